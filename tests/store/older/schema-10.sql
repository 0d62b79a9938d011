-- The rows of a store written by Engram 0.1.0 with schema 10: the demo's history, and what a session noted.
-- A line `-- body PATH HEX` is a file of the home.
-- body blobs/5/b6052c3f778d9e4f5c5efc986dac4b90f2ee4d02fbc70074cced8afc8c7daf7.zst 28b52ffd605f025d0e00f65d5b25208de8016380fad854b634b4d8ec1e9d7a0ffa246a3ec7cc9a16aa6cdc6aea921a200870175100500052005bcd49d7aa3aae53bfd5a4d3d6d7335a10dcf823fc79c10d6352f3389009c2381a10c739d2c424f766628225ec8a1b534e369558a2717f3f5e7083e1701e731ce66934cef1e798e4484c3fdcb8e2139608121a189050c55a2e0147eb368ff060fdfb591012a2dc77c34a28f182552814dcb8bef4ea92d0e6c60f460b6622afd7a49e92c018b518dbf152a1ef742b9fb4c22e7522615cca8c75e5dc699a3b69a7521bb01165c61a19441210080e24d4feb2fe629010b3fea65bea21659f3f8cf09db481b148a0ee57ff8ac58d5fe55882310509b5ea114e2b919032639cd3bea55677ee72f87855a74f465e4200097dcf38050413bc78bdda5aea1239e3f636cbbfee47f8c22e3546f875e99cd6a9875daa57f0d79d52bf15fa4e218f768ce9c731a647e334def3789a61389ae7b5b6b56c17cf23ec691909d14969e4afe9157c082320602232456807ba4409a51101bd1aa1e28d4992c9070dd2a1265e0e58be2fed1af88db040bd916198559385f761f4479e054c1b2368efc49961ca02489d12390484de584546c71da2af392c85f95231e1cd2aa93d87b89e3050
-- body blobs/d/a4a6e07425c7a8284e26c69cff02afe7a9f26000e7941cf92665e065de48244.zst 28b52ffd604805ed1800d6369a22306df3432da6651cf6c96b86a2268b6c1ea97fec4d18a8aeaa168b31c13d94141483950090008f0092c6231147220a07b2b7f9c8a4e171b440e9f14c9cf838e431611ce722079af5c1302ed102ade9cbfb2bb938ebe44a6c0565eb97cad2caa704d7821588310189e03b717836d5801993993810cbb772e390cbff381166ca62286caf752437ff4ca642242f7e1ccaf71d64bd3cc1d488531e400e7425fea205922cba85cdc7d2fa5e3cbe768fb55eb2b54e8925ead091034dbc03a2082d5b4ced647a29be2720f97178c178a4ca276086fd48bdfcfffc9cceb6f26d268eb475f2e5d9382fec7587a1fc8f333bde4e5cf24314287b52b53813a3add57ab0bf4dd77a498acdc5dc7ca63ae5d4300404704a8cb6f83e6fad733f080a100e060c1a86c43f1dc9b74a1424a7c88773c19794a69f5e2f2fb55673291da74b4ed357a00909c3beac8fe4d1b07ceddf89c95f6c37e9229f64f3af4fc984ad47308b8f2e3817fdb9ac6eeeafe5afd6303da5954a6fbed3dbd4886fd00221076a68ea73ed63320e5a34e4631b8d7f9c6b7b324e4312b90de44090eb92c73395b2989c93cdbd92ee1d5982cd566bfdae7dcfa4982f70cde62d5b86a9f7a3d3f0e29f87444c3c0ff1fc0d7f9b3a7f56f9937f2142aab0b7a4027de9b828b1ff530b158831ff02d86bff3263861960c6cbea4034d5b91c711e2a510da68ab331ea3f65bb92b15d83e9f5fae529d1b997264d51a9862c7927f55136fd8f6ebe861812100347fca1f9d648a4c129063d2e6aa11f9b25085b79abb593cbdbbd534ec665936228dc549e12664d7ef3271f6c29766b0fdbe76bad9a325b6990bdf668534a52daabb7b8069b42fada0541a88128a40c4144c88c42c1484d98d03570a29991bb1b12e01315c9505c6d940926dec95aac9f017e35bcb1e3191e551ab2c5e724062655f22630280f216f5c71a6919de1b54dfb5944ba4568d1a3daaccffd6577b36996fcfec14a0bcac73e26f07d048958b2834f95fddc4fc21960d94a2c0017b5fb30c53b20f04156cf58518031326188f4578d1550fa217c58db1477274798162fbb469924d20169cb208c3f3f10714203d1b798776d4198be055003
-- body blobs/f/5cd7d7b9ae267d970ae01af417d48979c92eb457d623f7a551f5cebbd151008.zst 28b52ffd607206651500f62878251071f4060676336d07a33722237bd642fe8322f6c741eb7fb9564fe308c9b68800000005016b0070006b003c2b769fdc6cad5392b65569c9cd4f259762f024f6c4ef1734c296f26dc9e5eb93482f374356fe35bdb294080c6237c32f7bb07e1384cd5fc1d44e7b1e26367fb2dbb4b1c19e3685414c12bfebc43420d6b7257bb0e7cce953fab338c7999e39350d1b7c8f41ace213a611cdc838b5d8cf219c962e68edc8878f20eb149d1c798a51515435d9259725c45a8ff1a2b8d465bdca5fb84f053eba5d5173e0a383838f2a16842056cb90539481fdb6b42c3e92c4db12fc34e209ec703818c4ec7da75c91da0c62924a0fb648f5aaa6da1209a2a88e0c72df63758bdb1257c4470bbbac224bbf34c3b9aa12ef490496aff55bb118c42425328df79c73cebad8fdafaab2fce687e5ea11bf4fd9ad05432afe15856b35d956bff06728f255c57854108cf3dacd8ece39a79dd9cedb6ced98e607d2d8c16cbf5ed72b0778a4d502809eb2d7e689a6693c1b0c72a3cfea163fece45b52e120f4069d66e263dad39ee61374b0b19661e9963ee549ad30d8fa570accd3b3bde9c631f0398f59a42c781cc63a0ba4f153961633ad699a064208a553b4272f1fb5f6b081013f8fc3b7bab5cd036c5d9274c952c97d4a0a0b0e0d080c1f41f7b26e4ba8d144858c31422232914c904c860390222199b21e1220d32409422c0b0998c0182818712edfc4252e0e715508a1a794764a08d991283e525d238e5047fcb513673a9225d12f3a003f5f7d58020fd043850db177e7e883207daf90a2ec35bbf62fe03089d887ff0399c83268ffe59f90f7fb606820bdcd6f40affae23d1d7a7d2108d2e2de54de51c899b4d927066b6d572c4f4c3022138d872a8d8c4f257767b94297ee58edd198fd58eaf864b1de6ec92732e72333d44f2d7b10f0e2c209b51f5efeac5aefa46a
-- body blobs/f/fca88c9b6602ab83fe2b4ac1adce011817c5db40d113616c9090b1a329febbe.zst 28b52ffd60b602ad0f0036a36521504bf4a31351ce1a84c0f5813e3149a9363154fcdcb566973469190529466626f45c005f005b008a8a4d82e3b4ab84fac56c810c3989bcce47af1fd02d7fb296d9638d2431422916b25974a569d6f4de343c4fd333a97c9a9e5153349d851f508aaa0f5f5542bd1717e7bc120469db8df026ffdc7e74c9bac6098c8d95a2a25750100149a97432aabf94d393c2a0542238c7d2c7e9a9360f04306966a4e3021db20cb3927590dd26eb913d986704ba15a1687dbad27f9253bdf1954634ad8d1a62480c4a65371ad31584a26895df80164fab845a094fa1c9a88c45e32440ce9c550569319d1475233d4fa1183972a6283b251ca64c8c36074911ff6968d31884ee98219031fbd8f3bae5b97deed93a2ff7d60e103df59f54901ca7190649e194f9fac88c9ffb3ee66461276e9783c15d71698691169f42cc3f49ce4620114ac1366a8821c999a8841e25fec08a1dffc5f816d2f693d7fb7171bbac852d3fb840f6ab31dc9abb1fadb5db63f9b20747b70c11660fb83866399a6dd4104340731edf63ecc70dd7c1d77b40c66d64deaf3fc30599279b2320604211b3f858a32393b8bc76ff98db25c4e783cf0a0f40f1d2e2c1b0b19a08858a56c3e1f63e0cbc09f20ab33cc0643e28e082eb25ba71025bdc39f22718f691a0edf7313e27b9213b0bce2cbbf7a80c422c3d7bb2a603891005
insert into sessions values ('20261112-182213-98951b91', 'claude', '11b9e70a-3801-5df6-a224-779adfb0ac9e', 'claude', 'A family ticket for 3 children costs 0.30000000000000004 more than it should. Find out why.', 'completed', '/tmp/old-store/harbour', '/tmp/old-store/harbour', 'main', NULL, NULL, NULL, 'claude-sonnet-4-5', 1794507733000000, 1794509053000000, 1794509053000000, NULL, NULL);
insert into sessions values ('20261116-182213-b4572ae5', 'claude', '07978037-81dc-59a3-8b1a-9145adbd49be', 'claude', 'Deploy the sensor service to staging.', 'completed', '/tmp/old-store/lighthouse', '/tmp/old-store/lighthouse', 'main', NULL, NULL, NULL, 'claude-sonnet-4-5', 1794853333000000, 1794854173000000, 1794854173000000, NULL, NULL);
insert into sessions values ('20261114-182213-148a3158', 'codex', 'a8a5def0-133c-5f12-a9fa-6020347b13ae', 'codex', 'Add refunds: a ticket that is given back within a day is paid back less a fee of 10 percent.', 'completed', '/tmp/old-store/harbour', '/tmp/old-store/harbour', 'main', NULL, NULL, NULL, 'gpt-5-codex', 1794680533000000, 1794683293000000, 1794683293000000, NULL, NULL);
insert into sessions values ('20261117-182213-f95be19f', 'codex', 'd504aa03-6187-5880-a114-1a6fae2a8b44', 'codex', 'Uploads from the lamp room break off on slow links. Make them retry.', 'completed', '/tmp/old-store/lighthouse', '/tmp/old-store/lighthouse', 'main', NULL, NULL, NULL, 'gpt-5-codex', 1794939733000000, 1794940813000000, 1794940813000000, NULL, NULL);
insert into sessions values ('20261118-182214-72f9af64', 'claude', 'demo-one', 'claude', 'Put the prices of season tickets into src/prices.py', 'active', '/tmp/old-store/harbour', '/tmp/old-store/harbour', NULL, 'laptop', NULL, NULL, NULL, 1795026134951007, 1795026135220956, NULL, NULL, NULL);
insert into sessions values ('20261118-182215-a4c58ab3', 'codex', 'demo-two', 'codex', 'Round the refund fee for season tickets: are integer cents right for money here?', 'active', '/tmp/old-store/harbour', '/tmp/old-store/harbour', NULL, 'laptop', NULL, NULL, NULL, 1795026135697013, 1795026136044983, NULL, NULL, NULL);
insert into sessions values ('20261118-182217-9f8d846a', 'agent', NULL, 'agent', 'prepare the summer release', 'completed', '/tmp/old-store/harbour', '/tmp/old-store/harbour', NULL, 'laptop', NULL, NULL, NULL, 1795026137960374, 1795026141231931, 1795026141231931, 'release 3 is ready, only publishing is left', NULL);
insert into sessions values ('notes', 'chat', NULL, 'chat', '', 'completed', '', NULL, NULL, NULL, NULL, NULL, NULL, 1795026140703867, 1795026140703867, 1795026140703867, NULL, NULL);
insert into session_logs values (1, '20261118-182217-9f8d846a', 1795026138703283, 'the changelog is written', NULL);
insert into locks values (1, '20261118-182214-72f9af64', 'file', '/tmp/old-store/harbour/src/prices.py', '/tmp/old-store/harbour/src/prices.py', '/tmp/old-store/harbour/src/prices.py', 'exclusive', '/tmp/old-store/harbour', 'editing it', 1795026135601483, 600000000, 1795026735601481, 1);
insert into tokens values ('locks', 'machine/boot/namespace', 1, 4097);
insert into boots values ('machine/boot/namespace', 1794985046734079);
insert into messages values (1, '20261118-182217-9f8d846a', NULL, '/tmp/old-store/harbour', 'note', 'publish the release on Monday', 1795026139379296, NULL);
insert into documents values ('world', '', 1, '# Harbour
Release 3 is frozen until Monday.', NULL, '20261118-182217-9f8d846a', 1795026140021712);
insert into documents values ('gist', 'notes', 1, 'Asked:
- user: The tills send integer cents. (#16)', '{"at":1795026140703867,"count":1,"first":16,"first_at":1795026140703867,"hash":"61da975e3797be02ce459c73","last":16,"last_at":1795026140703867,"origins":["user"],"project":"","session":"notes","trust":"user"}', 'extract/1', 1795026141938815);
insert into documents values ('extract', 'notes', 1, '{"lines":[["asked","The tills send integer cents.",16,"user",1795026140703867]],"statements":[]}', NULL, 'extract/1', 1795026141939777);
insert into documents values ('gist', '20261117-182213-f95be19f', 1, 'Asked:
- user: Uploads from the lamp room break off on slow links. (#14)
Said:
- user: Make them retry. (#14)
- assistant: Uploads retry three times. (#15)
Open:
- assistant: The test for slow links still fails. (#15)
- assistant: Next step: a longer pause. (#15)', '{"at":1794940813000000,"count":2,"first":14,"first_at":1794939973000000,"hash":"54e2296237ecc26d0f9002f0","last":15,"last_at":1794940813000000,"origins":["assistant","user"],"project":"/tmp/old-store/lighthouse","session":"20261117-182213-f95be19f","trust":"assistant"}', 'extract/1', 1795026141964507);
insert into documents values ('extract', '20261117-182213-f95be19f', 1, '{"lines":[["asked","Uploads from the lamp room break off on slow links.",14,"user",1794939973000000],["said","Make them retry.",14,"user",1794939973000000],["said","Uploads retry three times.",15,"assistant",1794940813000000],["open","The test for slow links still fails.",15,"assistant",1794940813000000],["open","Next step: a longer pause.",15,"assistant",1794940813000000]],"statements":[]}', NULL, 'extract/1', 1795026141964600);
insert into documents values ('gist', '20261114-182213-148a3158', 1, 'Asked:
- user: Add refunds: a ticket that is given back within a day is paid back less a fee of 10 percent. (#9)
Said:
- assistant: Refunds are in: refund(price) returns price * 0.9 as a float. (#10)
- user: No, that is wrong: never floats for money. (#11)
Done:
- assistant: 3 tests pass. (#12)
Wished:
- user: Use integer cents, and round the fee up. (#11)', '{"at":1794683293000000,"count":5,"first":9,"first_at":1794680773000000,"hash":"a5fcd8dc586c495d8b05ab53","last":13,"last_at":1794683293000000,"origins":["assistant","user"],"project":"/tmp/old-store/harbour","session":"20261114-182213-148a3158","trust":"assistant"}', 'extract/1', 1795026141971103);
insert into documents values ('extract', '20261114-182213-148a3158', 1, '{"lines":[["asked","Add refunds: a ticket that is given back within a day is paid back less a fee of 10 percent.",9,"user",1794680773000000],["said","Refunds are in: refund(price) returns price * 0.9 as a float.",10,"assistant",1794681253000000],["said","No, that is wrong: never floats for money.",11,"user",1794681493000000],["wished","Use integer cents, and round the fee up.",11,"user",1794681493000000],["done","3 tests pass.",12,"assistant",1794683053000000]],"statements":[["wished","Use integer cents, and round the fee up.",11,"user",1794681493000000]]}', NULL, 'extract/1', 1795026141971194);
insert into documents values ('gist', '20261116-182213-b4572ae5', 1, 'Asked:
- user: Deploy the sensor service to staging. (#5)
Said:
- assistant: quay-1 refuses the connection. (#6)
- assistant: Shall I retry? (#6)
- user: quay-1 is retired. (#7)
- user: The staging host is quay-2 now, and only the deploy user may log in. (#7)
Done:
- assistant: Deployed: the sensor service runs on quay-2. (#8)', '{"at":1794854173000000,"count":4,"first":5,"first_at":1794853333000000,"hash":"01fef73393e41d9c0d451783","last":8,"last_at":1794854173000000,"origins":["assistant","user"],"project":"/tmp/old-store/lighthouse","session":"20261116-182213-b4572ae5","trust":"assistant"}', 'extract/1', 1795026141976039);
insert into documents values ('extract', '20261116-182213-b4572ae5', 1, '{"lines":[["asked","Deploy the sensor service to staging.",5,"user",1794853333000000],["said","quay-1 refuses the connection.",6,"assistant",1794853693000000],["said","Shall I retry?",6,"assistant",1794853693000000],["said","quay-1 is retired.",7,"user",1794853813000000],["said","The staging host is quay-2 now, and only the deploy user may log in.",7,"user",1794853813000000],["done","Deployed: the sensor service runs on quay-2.",8,"assistant",1794854173000000]],"statements":[]}', NULL, 'extract/1', 1795026141976121);
insert into documents values ('gist', '20261112-182213-98951b91', 1, 'Asked:
- user: A family ticket for 3 children costs 0.30000000000000004 more than it should. (#1)
Said:
- user: Find out why. (#1)
- assistant: The cause: prices are floats, and the child discount is added three times. (#2)
- assistant: Decimal, or cents? (#2)
Decided:
- user: We decided: prices are integer cents everywhere, no Decimal, because the tills send cents. (#3)
Done:
- assistant: Fixed: prices are integer cents from the till to the invoice. (#4)
- assistant: All 4 tests pass; committed. (#4)
Names: Decimal', '{"at":1794509053000000,"count":4,"first":1,"first_at":1794507733000000,"hash":"f5e002d6fd3cb0b4bd980d04","last":4,"last_at":1794509053000000,"origins":["assistant","user"],"project":"/tmp/old-store/harbour","session":"20261112-182213-98951b91","trust":"assistant"}', 'extract/1', 1795026141987242);
insert into documents values ('extract', '20261112-182213-98951b91', 1, '{"lines":[["asked","A family ticket for 3 children costs 0.30000000000000004 more than it should.",1,"user",1794507733000000],["said","Find out why.",1,"user",1794507733000000],["said","The cause: prices are floats, and the child discount is added three times.",2,"assistant",1794508093000000],["said","Decimal, or cents?",2,"assistant",1794508093000000],["decided","We decided: prices are integer cents everywhere, no Decimal, because the tills send cents.",3,"user",1794508213000000],["done","Fixed: prices are integer cents from the till to the invoice.",4,"assistant",1794509053000000],["done","All 4 tests pass; committed.",4,"assistant",1794509053000000],["name","Decimal",3,"user",1794508213000000]],"statements":[]}', NULL, 'extract/1', 1795026141987322);
insert into documents values ('era', '2026-11', 1, '2026-11: 5 sessions in harbour (2), lighthouse (2).
2026-11-12 harbour:
- user: A family ticket for 3 children costs 0.30000000000000004 more than it should. (#1)
- user: Find out why. (#1)
- assistant: The cause: prices are floats, and the child discount is added three times. (#2)
- assistant: Decimal, or cents? (#2)
- user: We decided: prices are integer cents everywhere, no Decimal, because the tills send cents. (#3)
- assistant: Fixed: prices are integer cents from the till to the invoice. (#4)
- assistant: All 4 tests pass; committed. (#4)
2026-11-14 harbour:
- user: Add refunds: a ticket that is given back within a day is paid back less a fee of 10 percent. (#9)
- assistant: Refunds are in: refund(price) returns price * 0.9 as a float. (#10)
- user: No, that is wrong: never floats for money. (#11)
- user: Use integer cents, and round the fee up. (#11)
- assistant: 3 tests pass. (#12)
2026-11-16 lighthouse:
- user: Deploy the sensor service to staging. (#5)
- assistant: quay-1 refuses the connection. (#6)
- assistant: Shall I retry? (#6)
- user: quay-1 is retired. (#7)
- user: The staging host is quay-2 now, and only the deploy user may log in. (#7)
- assistant: Deployed: the sensor service runs on quay-2. (#8)
2026-11-17 lighthouse:
- user: Uploads from the lamp room break off on slow links. (#14)
- user: Make them retry. (#14)
- assistant: Uploads retry three times. (#15)
- assistant: The test for slow links still fails. (#15)
- assistant: Next step: a longer pause. (#15)', '{"asked":false,"at":1795026140703867,"hash":"ada91dc36abb5180ce6842f1","session_count":5,"sessions":["20261112-182213-98951b91","20261114-182213-148a3158","20261116-182213-b4572ae5","20261117-182213-f95be19f","notes"],"trust":"assistant"}', 'extract/1', 1795026142711635);
insert into documents values ('standing', '2026-11', 1, '{"statements":[["wished","Use integer cents, and round the fee up.",11,"user",1794681493000000,"20261114-182213-148a3158",[11],["20261114-182213-148a3158"]]]}', '{"hash":"8f9f23255df81d3cec0f943d","sessions":["20261114-182213-148a3158"]}', 'extract/1', 1795026142717340);
insert into documents values ('narrative', 'current', 1, 'Sessions by month: 2026-11: 5 (harbour 2, lighthouse 2).
Last sessions, newest first:
- 2026-11-18: user: The tills send integer cents. (#16)
- 2026-11-17 lighthouse: user: Uploads from the lamp room break off on slow links. (#14)
- 2026-11-16 lighthouse: user: Deploy the sensor service to staging. (#5)
- 2026-11-14 harbour: user: Add refunds: a ticket that is given back within a day is paid back less a fee of 10 percent. (#9)
- 2026-11-12 harbour: user: A family ticket for 3 children costs 0.30000000000000004 more than it should. (#1)
Open:
- assistant: The test for slow links still fails. (#15)
- assistant: Next step: a longer pause. (#15)', '{"asked":false,"at":1795026140703867,"hash":"bbd6edd2a51d5be87e7511df","sessions":["20261112-182213-98951b91","20261114-182213-148a3158","20261116-182213-b4572ae5","20261117-182213-f95be19f","notes"],"trust":"assistant"}', 'extract/1', 1795026142717979);
insert into activity values (1, 1795026135857545, 'refused', '20261118-182215-a4c58ab3', '/tmp/old-store/harbour', '/tmp/old-store/harbour/src/prices.py', '{"holder": "20261118-182214-72f9af64", "token": 1}');
insert into captures values (1, '20261112-182213-98951b91', NULL, NULL, NULL, '2.1.325', NULL, 1794507733000000, 1794509053000000, 12, 6329, 1, -9023131062980453696, 0, 1);
insert into captures values (2, '20261116-182213-b4572ae5', NULL, NULL, NULL, '2.1.325', NULL, 1794853333000000, 1794854173000000, 8, 4071, 1, -8041489685253042272, 0, 1);
insert into captures values (3, '20261114-182213-148a3158', NULL, NULL, NULL, '0.166.0', 'codex_cli', 1794680533000000, 1794683293000000, 16, 6728, 1, 961583740120528825, 0, 1);
insert into captures values (4, '20261117-182213-f95be19f', NULL, NULL, NULL, '0.166.0', 'codex_cli', 1794939733000000, 1794940813000000, 7, 3083, 1, 8487507302535617116, 0, 1);
insert into cursors values ('', '/tmp/old-store/.claude/projects/-tmp-old-store-harbour/11b9e70a-3801-5df6-a224-779adfb0ac9e.jsonl', 'claude', 1, 6329, '{"session":"11b9e70a-3801-5df6-a224-779adfb0ac9e","seen":["11b9e70a-3801-5df6-a224-779adfb0ac9e","/tmp/old-store/harbour","main","2.1.325","claude-sonnet-4-5",null,null],"told":{"of":"11b9e70a-3801-5df6-a224-779adfb0ac9e","cwd":"/tmp/old-store/harbour","branch":"main","version":"2.1.325","parent":null,"model":"claude-sonnet-4-5"},"counted":["11b9e70a-3801-5df6-a224-779adfb0ac9e","msg_toolu_harbour_7",null,350]}', 6329, 1795026133065703, 2932614, '791dca3747d79f78', '0188e3c8d51628fa', 0, NULL, 1795026133652466, NULL);
insert into cursors values ('', '/tmp/old-store/.claude/projects/-tmp-old-store-lighthouse/07978037-81dc-59a3-8b1a-9145adbd49be.jsonl', 'claude', 2, 4071, '{"session":"07978037-81dc-59a3-8b1a-9145adbd49be","seen":["07978037-81dc-59a3-8b1a-9145adbd49be","/tmp/old-store/lighthouse","main","2.1.325","claude-sonnet-4-5",null,null],"told":{"of":"07978037-81dc-59a3-8b1a-9145adbd49be","cwd":"/tmp/old-store/lighthouse","branch":"main","version":"2.1.325","parent":null,"model":"claude-sonnet-4-5"},"counted":["07978037-81dc-59a3-8b1a-9145adbd49be","msg_toolu_lighthouse_5",null,350]}', 4071, 1795026133082689, 2932606, '5ddaab47bf5cd483', '38890cdc53f63ac8', 0, NULL, 1795026133676080, NULL);
insert into cursors values ('', '/tmp/old-store/.codex/sessions/2026/11/14/rollout-2026-11-14T18-22-13-a8a5def0-133c-5f12-a9fa-6020347b13ae.jsonl', 'codex', 3, 6728, '{"thread":"a8a5def0-133c-5f12-a9fa-6020347b13ae","meta":true,"turn":null,"model":"gpt-5-codex","cwd":"/tmp/old-store/harbour","total":74700}', 6728, 1795026133073377, 2931844, '0ad5293fde65cb0d', '0e346ddff5a58e56', 0, NULL, 1795026133683524, NULL);
insert into cursors values ('', '/tmp/old-store/.codex/sessions/2026/11/17/rollout-2026-11-17T18-22-13-d504aa03-6187-5880-a114-1a6fae2a8b44.jsonl', 'codex', 4, 3083, '{"thread":"d504aa03-6187-5880-a114-1a6fae2a8b44","meta":true,"turn":null,"model":"gpt-5-codex","cwd":"/tmp/old-store/lighthouse","total":33200}', 3083, 1795026133086949, 2932600, '78f72e33bd6f5306', 'b151cb6e9c784015', 0, NULL, 1795026133689203, NULL);
insert into digests values (1, 1, 1, 1795026133703677, 1, '{"goal":"A family ticket for 3 children costs 0.30000000000000004 more than it should. Find out why.","then":["We decided: prices are integer cents everywhere, no Decimal, because the tills send cents."],"evidence":["the last tests passed","1 commits kept","the agent says it is done"],"changed":["src/prices.py"],"errors":["FAILED test_family - assert 35.10000000000001 == 35.1 [pytest tests/test_prices.py] → changed prices.py"],"tests":{"runs":2,"failed":1,"last":true},"commits":["commit"],"commands":{"run":3,"failed":1},"notable":["pytest tests/test_prices.py → 1","pytest tests/test_prices.py → 0","git commit -qam \"Prices are integer cents\" → 0"],"ended":"Fixed: prices are integer cents from the till to the invoice. All 4 tests pass; committed.","prompts":2,"minutes":22,"span_minutes":22}', '{"goal":"A family ticket for 3 children costs 0.30000000000000004 more than it should. Find out why.","prompt":"","said":"We decided: prices are integer cents everywhere, no Decimal, because the tills send cents.","ended":"Fixed: prices are integer cents from the till to the invoice. All 4 tests pass; committed.","last":"assistant","turn":2,"acts":4,"from":1794507733000000,"until":1794509053000000,"active":1320000000,"read":{},"changed":{"/tmp/old-store/harbour/src/prices.py":1},"tools":{"Bash":3,"Edit":1},"todo":[],"waiting":{},"commands":3,"failed":1,"notable":[["pytest tests/test_prices.py",1],["pytest tests/test_prices.py",0],["git commit -qam \"Prices are integer cents\"",0]],"errors":[{"known":"failed test_family - assert n.n == n.n","line":"FAILED test_family - assert 35.10000000000001 == 35.1","about":"pytest tests/test_prices.py","times":1,"open":false,"fix":"changed prices.py","turn":1,"since":["changed prices.py"]}],"tests":{"runs":2,"failed":1,"last":true},"last_build":null,"commits":["commit"],"dropped":0,"objected":null,"requests":["We decided: prices are integer cents everywhere, no Decimal, because the tills send cents."],"reverted":0,"pushed":0,"corrections":0,"objections":[],"interrupts":0,"denials":0,"compactions":0,"api_errors":0,"verdicts":{},"cwd":"/tmp/old-store/harbour"}', 'success', 0.76, NULL, NULL, NULL);
insert into digests values (2, 2, 1, 1795026133704593, 1, '{"goal":"Deploy the sensor service to staging.","then":["quay-1 is retired. The staging host is quay-2 now, and only the deploy user may log in."],"evidence":["answered after looking","1 errors not mended at the end"],"errors":["ssh: connect to host quay-1: Connection refused [ssh quay-1 systemctl restart]"],"commands":{"run":2,"failed":1},"notable":["ssh quay-1 systemctl restart sensors → 255"],"ended":"Deployed: the sensor service runs on quay-2.","prompts":2,"minutes":14,"span_minutes":14}', '{"goal":"Deploy the sensor service to staging.","prompt":"","said":"quay-1 is retired. The staging host is quay-2 now, and only the deploy user may log in.","ended":"Deployed: the sensor service runs on quay-2.","last":"assistant","turn":2,"acts":2,"from":1794853333000000,"until":1794854173000000,"active":840000000,"read":{},"changed":{},"tools":{"Bash":2},"todo":[],"waiting":{},"commands":2,"failed":1,"notable":[["ssh quay-1 systemctl restart sensors",255]],"errors":[{"known":"ssh: connect to host quay-n: connection refused","line":"ssh: connect to host quay-1: Connection refused","about":"ssh quay-1 systemctl restart","times":1,"open":true,"fix":"","turn":1,"since":[]}],"tests":{"runs":0,"failed":0,"last":null},"last_build":null,"commits":[],"dropped":0,"objected":null,"requests":["quay-1 is retired. The staging host is quay-2 now, and only the deploy user may log in."],"reverted":0,"pushed":0,"corrections":0,"objections":[],"interrupts":0,"denials":0,"compactions":0,"api_errors":0,"verdicts":{},"cwd":"/tmp/old-store/lighthouse"}', 'unclear', 0.3, NULL, NULL, NULL);
insert into digests values (3, 3, 1, 1795026133705129, 1, '{"goal":"Add refunds: a ticket that is given back within a day is paid back less a fee of 10 percent.","then":["Thanks, perfect."],"evidence":["the last tests passed","the user''s last words approve"],"changed":["src/refunds.py"],"errors":["FAILED test_fee_is_rounded_up - assert 899 == 900 [pytest tests/test_refunds.py] → changed refunds.py"],"tests":{"runs":2,"failed":1,"last":true},"corrections":["No, that is wrong: never floats for money. Use integer cents, and round the fee up."],"commands":{"run":2,"failed":1},"notable":["pytest tests/test_refunds.py → 1","pytest tests/test_refunds.py → 0"],"open":["Thanks, perfect."],"ended":"Done: refunds work in integer cents, the fee is rounded up. 3 tests pass.","prompts":3,"minutes":46,"span_minutes":46}', '{"goal":"Add refunds: a ticket that is given back within a day is paid back less a fee of 10 percent.","prompt":"","said":"Thanks, perfect.","ended":"Done: refunds work in integer cents, the fee is rounded up. 3 tests pass.","last":"user","turn":3,"acts":5,"from":1794680533000000,"until":1794683293000000,"active":2760000000,"read":{},"changed":{"src/refunds.py":3},"tools":{"apply_patch":3,"exec_command":2},"todo":[],"waiting":{},"commands":2,"failed":1,"notable":[["pytest tests/test_refunds.py",1],["pytest tests/test_refunds.py",0]],"errors":[{"known":"failed test_fee_is_rounded_up - assert n == n","line":"FAILED test_fee_is_rounded_up - assert 899 == 900","about":"pytest tests/test_refunds.py","times":1,"open":false,"fix":"changed refunds.py","turn":2,"since":["changed refunds.py"]}],"tests":{"runs":2,"failed":1,"last":true},"last_build":null,"commits":[],"dropped":0,"objected":[0,0,0],"requests":["Thanks, perfect."],"reverted":0,"pushed":0,"corrections":1,"objections":["No, that is wrong: never floats for money. Use integer cents, and round the fee up."],"interrupts":0,"denials":0,"compactions":0,"api_errors":0,"verdicts":{},"cwd":"/tmp/old-store/harbour"}', 'success', 0.7, NULL, NULL, NULL);
insert into digests values (4, 4, 1, 1795026133705569, 1, '{"goal":"Uploads from the lamp room break off on slow links. Make them retry.","evidence":["the last tests failed","the agent says it could not do it","1 errors not mended at the end"],"changed":["src/upload.py"],"errors":["FAILED test_slow_link - TimeoutError [pytest tests/test_upload.py]"],"tests":{"runs":1,"failed":1,"last":false},"commands":{"run":1,"failed":1},"notable":["pytest tests/test_upload.py → 1"],"ended":"Uploads retry three times. The test for slow links still fails. Next step: a longer pause.","prompts":1,"minutes":18,"span_minutes":18}', '{"goal":"Uploads from the lamp room break off on slow links. Make them retry.","prompt":"","said":"Uploads from the lamp room break off on slow links. Make them retry.","ended":"Uploads retry three times. The test for slow links still fails. Next step: a longer pause.","last":"assistant","turn":1,"acts":2,"from":1794939733000000,"until":1794940813000000,"active":1080000000,"read":{},"changed":{"src/upload.py":1},"tools":{"apply_patch":1,"exec_command":1},"todo":[],"waiting":{},"commands":1,"failed":1,"notable":[["pytest tests/test_upload.py",1]],"errors":[{"known":"failed test_slow_link - timeouterror","line":"FAILED test_slow_link - TimeoutError","about":"pytest tests/test_upload.py","times":1,"open":true,"fix":"","turn":1,"since":[]}],"tests":{"runs":1,"failed":1,"last":false},"last_build":null,"commits":[],"dropped":0,"objected":null,"requests":[],"reverted":0,"pushed":0,"corrections":0,"objections":[],"interrupts":0,"denials":0,"compactions":0,"api_errors":0,"verdicts":{},"cwd":"/tmp/old-store/lighthouse"}', 'failure', 0.72, NULL, NULL, NULL);
insert into blobs values (1, 'da4a6e07425c7a8284e26c69cff02afe7a9f26000e7941cf92665e065de48244', 1, 1, 1608, 807, 1795026133703199, NULL, NULL, NULL, NULL, 0);
insert into blobs values (2, 'ffca88c9b6602ab83fe2b4ac1adce011817c5db40d113616c9090b1a329febbe', 2, 1, 950, 511, 1795026133704359, NULL, NULL, NULL, NULL, 0);
insert into blobs values (3, 'f5cd7d7b9ae267d970ae01af417d48979c92eb457d623f7a551f5cebbd151008', 3, 1, 1906, 694, 1795026133704941, NULL, NULL, NULL, NULL, 0);
insert into blobs values (4, '5b6052c3f778d9e4f5c5efc986dac4b90f2ee4d02fbc70074cced8afc8c7daf7', 4, 1, 863, 469, 1795026133705448, NULL, NULL, NULL, NULL, 0);
insert into events values (1, 1, -9023131062980453696, 8638124775785237411, 17592186044416, 1794507733000000, 'message', 'user', NULL, NULL, NULL, NULL, NULL, 1, 0, 147);
insert into events values (2, 1, 7059284255368207351, -4042668258072841584, 17592186144256, 1794507853000000, 'call', 'assistant', 'Bash', NULL, NULL, 3260124917728059900, -9023131062980453696, 1, 147, 128);
insert into events values (3, 1, 4180173509321633812, -6170303413403418780, 17592186298880, 1794507973000000, 'result', 'tool', NULL, 'error', 1, 3260124917728059900, 7059284255368207351, 1, 275, 160);
insert into events values (4, 1, 2638798221229058685, 5636504703126319323, 17592186426624, 1794508093000000, 'message', 'assistant', NULL, NULL, NULL, NULL, 4180173509321633812, 1, 435, 149);
insert into events values (5, 1, -1121917503607914769, -3986848622772226703, 17592186583040, 1794508213000000, 'message', 'user', NULL, NULL, NULL, NULL, 2638798221229058685, 1, 584, 146);
insert into events values (6, 1, -9065467200109350875, 5152122428490493802, 17592186691328, 1794508333000000, 'call', 'assistant', 'Edit', NULL, NULL, 720801216604451943, -1121917503607914769, 1, 730, 179);
insert into events values (7, 1, -8044917324361763412, 1818141873291833252, 17592186860032, 1794508453000000, 'result', 'tool', NULL, 'ok', NULL, 720801216604451943, -9065467200109350875, 1, 909, 105);
insert into events values (8, 1, 1088220151263488136, -990913779935257155, 17592186973952, 1794508573000000, 'call', 'assistant', 'Bash', NULL, NULL, 4043196300748107360, -8044917324361763412, 1, 1014, 128);
insert into events values (9, 1, 4584115820058647223, -2285355851578974604, 17592187128576, 1794508693000000, 'result', 'tool', NULL, 'ok', NULL, 4043196300748107360, 1088220151263488136, 1, 1142, 101);
insert into events values (10, 1, -379373374648352341, 7846341491735760692, 17592187241472, 1794508813000000, 'call', 'assistant', 'Bash', NULL, NULL, -2327139646238656702, 4584115820058647223, 1, 1243, 145);
insert into events values (11, 1, 8126415703722614227, -7386420564710800588, 17592187400448, 1794508933000000, 'result', 'tool', NULL, 'ok', NULL, -2327139646238656702, -379373374648352341, 1, 1388, 74);
insert into events values (12, 1, -5652389047440992965, 4275619145269045984, 17592187508992, 1794509053000000, 'message', 'assistant', NULL, NULL, NULL, NULL, 8126415703722614227, 1, 1462, 146);
insert into events values (13, 2, -8041489685253042272, -2236409330480171455, 35184372088832, 1794853333000000, 'message', 'user', NULL, NULL, NULL, NULL, NULL, 2, 0, 93);
insert into events values (14, 2, 2574900863758849343, 6172130937021665316, 35184372175616, 1794853453000000, 'call', 'assistant', 'Bash', NULL, NULL, -1555462357993723551, -8041489685253042272, 2, 93, 140);
insert into events values (15, 2, 2167669057326597096, -2521764308218743380, 35184372334848, 1794853573000000, 'result', 'tool', NULL, 'error', 255, -1555462357993723551, 2574900863758849343, 2, 233, 149);
insert into events values (16, 2, -3407777800781902640, 4183141287686795942, 35184372460544, 1794853693000000, 'message', 'assistant', NULL, NULL, NULL, NULL, 2167669057326597096, 2, 382, 101);
insert into events values (17, 2, 1767467745011224570, -5119113725213911518, 35184372606208, 1794853813000000, 'message', 'user', NULL, NULL, NULL, NULL, -3407777800781902640, 2, 483, 143);
insert into events values (18, 2, 2687238372668778428, -3718954009929200484, 35184372714496, 1794853933000000, 'call', 'assistant', 'Bash', NULL, NULL, 6549720842337871742, 1767467745011224570, 2, 626, 147);
insert into events values (19, 2, -3959337368009589883, -3615001563659010106, 35184372875520, 1794854053000000, 'result', 'tool', NULL, 'ok', NULL, 6549720842337871742, 2687238372668778428, 2, 773, 77);
insert into events values (20, 2, 4821063338507185016, 5393463715979036770, 35184372985600, 1794854173000000, 'message', 'assistant', NULL, NULL, NULL, NULL, -3959337368009589883, 2, 850, 100);
insert into events values (21, 3, 4140975182354614067, -7807894527424900819, 52776558133248, 1794680533000000, 'lifecycle', 'system', 'session_meta', NULL, NULL, NULL, NULL, 3, 0, 59);
insert into events values (22, 3, 961583740120528825, -1509923035054053462, 52776558239488, 1794680773000000, 'message', 'user', NULL, NULL, NULL, NULL, NULL, 3, 59, 136);
insert into events values (23, 3, -4640078798245760883, -315122761705384423, 52776558305024, 1794680893000000, 'call', 'assistant', 'apply_patch', NULL, NULL, -6359695508688079766, NULL, 3, 195, 154);
insert into events values (24, 3, 4633486362566554649, 5087396588285371742, 52776558370560, 1794681013000000, 'result', 'tool', NULL, 'ok', NULL, -6359695508688079766, NULL, 3, 349, 112);
insert into events values (25, 3, 5628674737083208985, -8075138262186386792, 52776558527488, 1794681253000000, 'message', 'assistant', NULL, NULL, NULL, NULL, NULL, 3, 461, 105);
insert into events values (26, 3, 2650715669881450814, 3196279257290058218, 52776558691840, 1794681493000000, 'message', 'user', NULL, NULL, NULL, NULL, NULL, 3, 566, 127);
insert into events values (27, 3, -4291272014323259956, 7949507890897800121, 52776558755072, 1794681613000000, 'call', 'assistant', 'apply_patch', NULL, NULL, 4530982929664015969, NULL, 3, 693, 154);
insert into events values (28, 3, -3605463935701678587, -3100305640535614545, 52776558820608, 1794681733000000, 'result', 'tool', NULL, 'ok', NULL, 4530982929664015969, NULL, 3, 847, 112);
insert into events values (29, 3, 8066069645455827709, -24833893742311889, 52776558977792, 1794681973000000, 'call', 'assistant', 'exec_command', NULL, NULL, -2327255981043170080, NULL, 3, 959, 107);
insert into events values (30, 3, 9079476507551868076, 100696301567076202, 52776559033600, 1794682093000000, 'result', 'tool', NULL, 'error', 1, -2327255981043170080, NULL, 3, 1066, 166);
insert into events values (31, 3, 8519021201371781030, -249554527507587130, 52776559203840, 1794682333000000, 'call', 'assistant', 'apply_patch', NULL, NULL, -5916556808763313887, NULL, 3, 1232, 154);
insert into events values (32, 3, -8324008553208312978, 2494342590741702557, 52776559269376, 1794682453000000, 'result', 'tool', NULL, 'ok', NULL, -5916556808763313887, NULL, 3, 1386, 112);
insert into events values (33, 3, 8228129686079698496, -2117742196391187574, 52776559426560, 1794682693000000, 'call', 'assistant', 'exec_command', NULL, NULL, -5829211030520699291, NULL, 3, 1498, 107);
insert into events values (34, 3, 4406396746228212382, -3514824796289728911, 52776559482368, 1794682813000000, 'result', 'tool', NULL, 'ok', 0, -5829211030520699291, NULL, 3, 1605, 124);
insert into events values (35, 3, 5737936640287351725, 7498060126276055353, 52776559641856, 1794683053000000, 'message', 'assistant', NULL, NULL, NULL, NULL, NULL, 3, 1729, 117);
insert into events values (36, 3, -4874402639735539167, -4112756742453838238, 52776559809536, 1794683293000000, 'message', 'user', NULL, NULL, NULL, NULL, NULL, 3, 1846, 60);
insert into events values (37, 4, 4260803616999362307, 6835640765975914971, 70368744177664, 1794939733000000, 'lifecycle', 'system', 'session_meta', NULL, NULL, NULL, NULL, 4, 0, 59);
insert into events values (38, 4, 8487507302535617116, 9053665155868875551, 70368744285440, 1794939973000000, 'message', 'user', NULL, NULL, NULL, NULL, NULL, 4, 59, 112);
insert into events values (39, 4, 2644707822563984150, 1394879762581651694, 70368744344832, 1794940093000000, 'call', 'assistant', 'apply_patch', NULL, NULL, 1682243914558389492, NULL, 4, 171, 159);
insert into events values (40, 4, -8320675544858516001, 2968312161997140134, 70368744410880, 1794940213000000, 'result', 'tool', NULL, 'ok', NULL, 1682243914558389492, NULL, 4, 330, 118);
insert into events values (41, 4, 4814520991384387100, 2813733404983568963, 70368744568576, 1794940453000000, 'call', 'assistant', 'exec_command', NULL, NULL, -3755483041457891463, NULL, 4, 448, 112);
insert into events values (42, 4, 4351547637092157825, -7422724702486769447, 70368744624896, 1794940573000000, 'result', 'tool', NULL, 'error', 1, -3755483041457891463, NULL, 4, 560, 169);
insert into events values (43, 4, 6458354470291975446, 7397504207527527775, 70368744794880, 1794940813000000, 'message', 'assistant', NULL, NULL, NULL, NULL, NULL, 4, 729, 134);
insert into counters values ('files', 4);
insert into counters values ('kept bytes', 2481);
insert into counters values ('events', 43);
insert into counters values ('sweeps', 1);
insert into usage values (-9134372707595252962, 2, 1794853333000000, 'claude-sonnet-4-5', 1794853453000000, 900, 350, 21000, 0, 0, 0, NULL, 'floor', 1);
insert into usage values (-8898888168448882637, 3, 1794680533000000, 'gpt-5-codex', 1794682573000000, 2000, 300, 6000, 0, 0, 0, NULL, 'exact', 1);
insert into usage values (-6467216097945420139, 3, 1794680533000000, 'gpt-5-codex', 1794683173000000, 2000, 300, 6000, 0, 0, 0, NULL, 'exact', 1);
insert into usage values (-5526932224820205283, 1, 1794507733000000, 'claude-sonnet-4-5', 1794508573000000, 900, 350, 21000, 0, 0, 0, NULL, 'floor', 1);
insert into usage values (-5459527864022223283, 3, 1794680533000000, 'gpt-5-codex', 1794681373000000, 2000, 300, 6000, 0, 0, 0, NULL, 'exact', 1);
insert into usage values (-4936995530017169744, 1, 1794507733000000, 'claude-sonnet-4-5', 1794509053000000, 900, 350, 21000, 0, 0, 0, NULL, 'floor', 1);
insert into usage values (-3675339678957371304, 3, 1794680533000000, 'gpt-5-codex', 1794681133000000, 2000, 300, 6000, 0, 0, 0, NULL, 'exact', 1);
insert into usage values (-1798840505351949965, 3, 1794680533000000, 'gpt-5-codex', 1794682933000000, 2000, 300, 6000, 0, 0, 0, NULL, 'exact', 1);
insert into usage values (-1747309087820899071, 4, 1794939733000000, 'gpt-5-codex', 1794940693000000, 2000, 300, 6000, 0, 0, 0, NULL, 'exact', 1);
insert into usage values (-1295012732461130040, 1, 1794507733000000, 'claude-sonnet-4-5', 1794507853000000, 900, 350, 21000, 0, 0, 0, NULL, 'floor', 1);
insert into usage values (-276179328610500260, 4, 1794939733000000, 'gpt-5-codex', 1794940333000000, 2000, 300, 6000, 0, 0, 0, NULL, 'exact', 1);
insert into usage values (389564996698297554, 1, 1794507733000000, 'claude-sonnet-4-5', 1794508333000000, 900, 350, 21000, 0, 0, 0, NULL, 'floor', 1);
insert into usage values (461260585356057891, 3, 1794680533000000, 'gpt-5-codex', 1794682213000000, 2000, 300, 6000, 0, 0, 0, NULL, 'exact', 1);
insert into usage values (2636928404590136928, 3, 1794680533000000, 'gpt-5-codex', 1794681853000000, 2000, 300, 6000, 0, 0, 0, NULL, 'exact', 1);
insert into usage values (3052738829549870396, 1, 1794507733000000, 'claude-sonnet-4-5', 1794508093000000, 900, 350, 21000, 0, 0, 0, NULL, 'floor', 1);
insert into usage values (4211018755048992121, 4, 1794939733000000, 'gpt-5-codex', 1794940933000000, 2000, 300, 6000, 0, 0, 0, NULL, 'exact', 1);
insert into usage values (5327685977884847300, 2, 1794853333000000, 'claude-sonnet-4-5', 1794853693000000, 900, 350, 21000, 0, 0, 0, NULL, 'floor', 1);
insert into usage values (5541539443067467738, 2, 1794853333000000, 'claude-sonnet-4-5', 1794854173000000, 900, 350, 21000, 0, 0, 0, NULL, 'floor', 1);
insert into usage values (6740741478605884887, 2, 1794853333000000, 'claude-sonnet-4-5', 1794853933000000, 900, 350, 21000, 0, 0, 0, NULL, 'floor', 1);
insert into usage values (8137042532982669373, 1, 1794507733000000, 'claude-sonnet-4-5', 1794508813000000, 900, 350, 21000, 0, 0, 0, NULL, 'floor', 1);
delete from event_words_data;
insert into event_words_data values (1, X'2B814B');
insert into event_words_data values (10, X'00000001FF0000010101010001010101010100002B');
insert into event_words_data values (137438953473, X'0000041F0230300902051904060701013103060409030B020501020A0F0406090C040607020D303030303030303030303030310302090202387322020C01013212020618020D02023173090206020235350F02040101332202080201350304080401013409020201033839391E020B01033930301E020C010B6170706C795F7061746368170202040202040202080202020272650A0207020573736572740302071B020A01046261736802020206020202020204020204020202046567696E170203040203040203080203010563656E74730A020902036F64650302030C02030F020504020508020503046D6D69740A020403056E6E6563740F02060803696F6E0F020B01066465706C6F7912020401046564697406020202026E6417020C04020C04020C08020C020B7865635F636F6D6D616E641D0202040202080202030269740302020C0202050265641E020304020308020301066661696C65640304050A1B0408080C0408060203696C6507020310020604020604020608020605017318020604020604020608020602046C6F617406020A11020A04020A04020A08020A02086F6C6C6F77696E6718020504020504020508020501036769740A02030107686172626F757206020602036F73740F02080102696E09020419020A03017406020B11020B04020B04020B08020B0404656765720A020801016D18020704020704020708020701036F6C64060204020575747075741E0207040207080207010670617373656409020319020908020E03037463681704040B0404040B0404040B0804040B0205726963657306020804020603056F636573731E02020402020802020201790202060402090202060F0209040209020206020209020206060209020206030474657374020203060203150203040203080203010371616D0A020502037561790E02040102090302050107726566756E647317020804020804020805037365640F020C030573746172740E0207040208010773656E736F72730E020804020902027263060207110207010208030207010208030207010208070207010208020273680E02030102050302030204746F726506020502067563636573731802020402020402020802020208797374656D63746C0E0206040207010B746573745F66616D696C79030206071065655F69735F726F756E6465645F75701E020906067072696365730202050602050607726566756E64731D02050402050609736C6F775F6C696E6B2A0209060675706C6F616429020505017302020406020415020404020408020402026865070202110204040204040204080204020B696D656F75746572726F722A020A02026D7006020302016F0F0207010675706461746517020504020504020508020507016407020511020304020304020308020303046C6F6164270208010377617307020402036974681E0204040204080204040A161207090707060706080819070D15120A14090A080B0910160A0D14140F1516080C080A12090F081011150D102115080E12080D0F1F0D09141010150E0F0E0B121310070614120908');
delete from event_words_idx;
insert into event_words_idx values (1, X'', 2);
delete from event_words_docsize;
insert into event_words_docsize values (1, X'00', 1);
insert into event_words_docsize values (2, X'05', 1);
insert into event_words_docsize values (3, X'0C', 1);
insert into event_words_docsize values (4, X'00', 1);
insert into event_words_docsize values (5, X'00', 1);
insert into event_words_docsize values (6, X'0A', 1);
insert into event_words_docsize values (7, X'04', 1);
insert into event_words_docsize values (8, X'05', 1);
insert into event_words_docsize values (9, X'05', 1);
insert into event_words_docsize values (10, X'08', 1);
insert into event_words_docsize values (11, X'00', 1);
insert into event_words_docsize values (12, X'00', 1);
insert into event_words_docsize values (13, X'00', 1);
insert into event_words_docsize values (14, X'07', 1);
insert into event_words_docsize values (15, X'0B', 1);
insert into event_words_docsize values (16, X'00', 1);
insert into event_words_docsize values (17, X'00', 1);
insert into event_words_docsize values (18, X'08', 1);
insert into event_words_docsize values (19, X'00', 1);
insert into event_words_docsize values (20, X'00', 1);
insert into event_words_docsize values (21, X'00', 1);
insert into event_words_docsize values (22, X'00', 1);
insert into event_words_docsize values (23, X'0C', 1);
insert into event_words_docsize values (24, X'07', 1);
insert into event_words_docsize values (25, X'00', 1);
insert into event_words_docsize values (26, X'00', 1);
insert into event_words_docsize values (27, X'0C', 1);
insert into event_words_docsize values (28, X'07', 1);
insert into event_words_docsize values (29, X'05', 1);
insert into event_words_docsize values (30, X'0D', 1);
insert into event_words_docsize values (31, X'0C', 1);
insert into event_words_docsize values (32, X'07', 1);
insert into event_words_docsize values (33, X'05', 1);
insert into event_words_docsize values (34, X'0B', 1);
insert into event_words_docsize values (35, X'00', 1);
insert into event_words_docsize values (36, X'00', 1);
insert into event_words_docsize values (37, X'00', 1);
insert into event_words_docsize values (38, X'00', 1);
insert into event_words_docsize values (39, X'0C', 1);
insert into event_words_docsize values (40, X'07', 1);
insert into event_words_docsize values (41, X'05', 1);
insert into event_words_docsize values (42, X'0D', 1);
insert into event_words_docsize values (43, X'00', 1);
delete from event_words_config;
insert into event_words_config values ('secure-delete', 1);
insert into event_words_config values ('version', 4);
insert into exchanges values (1, '20261112-182213-98951b91', 'user', 'A family ticket for 3 children costs 0.30000000000000004 more than it should. Find out why.', 1794507733000000, 1795026133703373, 'user', NULL, 1, 1);
insert into exchanges values (2, '20261112-182213-98951b91', 'assistant', 'The cause: prices are floats, and the child discount is added three times. Decimal, or cents?', 1794508093000000, 1795026133703373, 'assistant', NULL, 4, 1);
insert into exchanges values (3, '20261112-182213-98951b91', 'user', 'We decided: prices are integer cents everywhere, no Decimal, because the tills send cents.', 1794508213000000, 1795026133703373, 'user', NULL, 5, 1);
insert into exchanges values (4, '20261112-182213-98951b91', 'assistant', 'Fixed: prices are integer cents from the till to the invoice. All 4 tests pass; committed.', 1794509053000000, 1795026133703373, 'assistant', NULL, 12, 1);
insert into exchanges values (5, '20261116-182213-b4572ae5', 'user', 'Deploy the sensor service to staging.', 1794853333000000, 1795026133704442, 'user', NULL, 13, 1);
insert into exchanges values (6, '20261116-182213-b4572ae5', 'assistant', 'quay-1 refuses the connection. Shall I retry?', 1794853693000000, 1795026133704442, 'assistant', NULL, 16, 1);
insert into exchanges values (7, '20261116-182213-b4572ae5', 'user', 'quay-1 is retired. The staging host is quay-2 now, and only the deploy user may log in.', 1794853813000000, 1795026133704442, 'user', NULL, 17, 1);
insert into exchanges values (8, '20261116-182213-b4572ae5', 'assistant', 'Deployed: the sensor service runs on quay-2.', 1794854173000000, 1795026133704442, 'assistant', NULL, 20, 1);
insert into exchanges values (9, '20261114-182213-148a3158', 'user', 'Add refunds: a ticket that is given back within a day is paid back less a fee of 10 percent.', 1794680773000000, 1795026133705032, 'user', NULL, 22, 1);
insert into exchanges values (10, '20261114-182213-148a3158', 'assistant', 'Refunds are in: refund(price) returns price * 0.9 as a float.', 1794681253000000, 1795026133705032, 'assistant', NULL, 25, 1);
insert into exchanges values (11, '20261114-182213-148a3158', 'user', 'No, that is wrong: never floats for money. Use integer cents, and round the fee up.', 1794681493000000, 1795026133705032, 'user', NULL, 26, 1);
insert into exchanges values (12, '20261114-182213-148a3158', 'assistant', 'Done: refunds work in integer cents, the fee is rounded up. 3 tests pass.', 1794683053000000, 1795026133705032, 'assistant', NULL, 35, 1);
insert into exchanges values (13, '20261114-182213-148a3158', 'user', 'Thanks, perfect.', 1794683293000000, 1795026133705032, 'user', NULL, 36, 1);
insert into exchanges values (14, '20261117-182213-f95be19f', 'user', 'Uploads from the lamp room break off on slow links. Make them retry.', 1794939973000000, 1795026133705499, 'user', NULL, 38, 1);
insert into exchanges values (15, '20261117-182213-f95be19f', 'assistant', 'Uploads retry three times. The test for slow links still fails. Next step: a longer pause.', 1794940813000000, 1795026133705499, 'assistant', NULL, 43, 1);
insert into exchanges values (16, 'notes', 'user', 'The tills send integer cents.', 1795026140703867, 1795026140703878, 'user', NULL, NULL, 1);
delete from sqlite_sequence;
insert into sqlite_sequence values ('exchanges', 16);
insert into sqlite_sequence values ('unindexed', 27);
insert into sqlite_sequence values ('passages', 11);
insert into sqlite_sequence values ('segments', 2);
insert into sqlite_sequence values ('spaces', 4);
insert into sqlite_sequence values ('vectors', 4);
insert into passages values (1, 'digest', '20261112-182213-98951b91', 0, '20261112-182213-98951b91', '/tmp/old-store/harbour', 1794509053000000, 'Goal: A family ticket for 3 children costs 0.30000000000000004 more than it should. Find out why.
Outcome: success
Then: We decided: prices are integer cents everywhere, no Decimal, because the tills send cents.
Changed: src/prices.py
Errors: FAILED test_family - assert 35.10000000000001 == 35.1 [pytest tests/test_prices.py] → changed prices.py
Commits: commit
Notable: pytest tests/test_prices.py → 1; pytest tests/test_prices.py → 0; git commit -qam "Prices are integer cents" → 0
Ended: Fixed: prices are integer cents from the till to the invoice. All 4 tests pass; committed.');
insert into passages values (2, 'digest', '20261116-182213-b4572ae5', 0, '20261116-182213-b4572ae5', '/tmp/old-store/lighthouse', 1794854173000000, 'Goal: Deploy the sensor service to staging.
Outcome: unclear
Then: quay-1 is retired. The staging host is quay-2 now, and only the deploy user may log in.
Errors: ssh: connect to host quay-1: Connection refused [ssh quay-1 systemctl restart]
Notable: ssh quay-1 systemctl restart sensors → 255
Ended: Deployed: the sensor service runs on quay-2.');
insert into passages values (3, 'digest', '20261114-182213-148a3158', 0, '20261114-182213-148a3158', '/tmp/old-store/harbour', 1794683293000000, 'Goal: Add refunds: a ticket that is given back within a day is paid back less a fee of 10 percent.
Outcome: success
Then: Thanks, perfect.
Changed: src/refunds.py
Errors: FAILED test_fee_is_rounded_up - assert 899 == 900 [pytest tests/test_refunds.py] → changed refunds.py
Corrections: No, that is wrong: never floats for money. Use integer cents, and round the fee up.
Notable: pytest tests/test_refunds.py → 1; pytest tests/test_refunds.py → 0
Open: Thanks, perfect.
Ended: Done: refunds work in integer cents, the fee is rounded up. 3 tests pass.');
insert into passages values (4, 'digest', '20261117-182213-f95be19f', 0, '20261117-182213-f95be19f', '/tmp/old-store/lighthouse', 1794940813000000, 'Goal: Uploads from the lamp room break off on slow links. Make them retry.
Outcome: failure
Changed: src/upload.py
Errors: FAILED test_slow_link - TimeoutError [pytest tests/test_upload.py]
Notable: pytest tests/test_upload.py → 1
Ended: Uploads retry three times. The test for slow links still fails. Next step: a longer pause.');
insert into passages values (5, 'gist', 'notes', 0, 'notes', '', 1795026140703867, 'Asked:
- user: The tills send integer cents.');
insert into passages values (6, 'gist', '20261117-182213-f95be19f', 0, '20261117-182213-f95be19f', '/tmp/old-store/lighthouse', 1794940813000000, 'Asked:
- user: Uploads from the lamp room break off on slow links.
Said:
- user: Make them retry.
- assistant: Uploads retry three times.
Open:
- assistant: The test for slow links still fails.
- assistant: Next step: a longer pause.');
insert into passages values (7, 'gist', '20261114-182213-148a3158', 0, '20261114-182213-148a3158', '/tmp/old-store/harbour', 1794683293000000, 'Asked:
- user: Add refunds: a ticket that is given back within a day is paid back less a fee of 10 percent.
Said:
- assistant: Refunds are in: refund(price) returns price * 0.9 as a float.
- user: No, that is wrong: never floats for money.
Done:
- assistant: 3 tests pass.
Wished:
- user: Use integer cents, and round the fee up.');
insert into passages values (8, 'gist', '20261116-182213-b4572ae5', 0, '20261116-182213-b4572ae5', '/tmp/old-store/lighthouse', 1794854173000000, 'Asked:
- user: Deploy the sensor service to staging.
Said:
- assistant: quay-1 refuses the connection.
- assistant: Shall I retry?
- user: quay-1 is retired.
- user: The staging host is quay-2 now, and only the deploy user may log in.
Done:
- assistant: Deployed: the sensor service runs on quay-2.');
insert into passages values (9, 'gist', '20261112-182213-98951b91', 0, '20261112-182213-98951b91', '/tmp/old-store/harbour', 1794509053000000, 'Asked:
- user: A family ticket for 3 children costs 0.30000000000000004 more than it should.
Said:
- user: Find out why.
- assistant: The cause: prices are floats, and the child discount is added three times.
- assistant: Decimal, or cents?
Decided:
- user: We decided: prices are integer cents everywhere, no Decimal, because the tills send cents.
Done:
- assistant: Fixed: prices are integer cents from the till to the invoice.
- assistant: All 4 tests pass; committed.
Names: Decimal');
insert into passages values (10, 'era', '2026-11', 0, NULL, '', 1795026140703867, '2026-11: 5 sessions in harbour (2), lighthouse (2).
2026-11-12 harbour:
- user: A family ticket for 3 children costs 0.30000000000000004 more than it should.
- user: Find out why.
- assistant: The cause: prices are floats, and the child discount is added three times.
- assistant: Decimal, or cents?
- user: We decided: prices are integer cents everywhere, no Decimal, because the tills send cents.
- assistant: Fixed: prices are integer cents from the till to the invoice.
- assistant: All 4 tests pass; committed.
2026-11-14 harbour:
- user: Add refunds: a ticket that is given back within a day is paid back less a fee of 10 percent.
- assistant: Refunds are in: refund(price) returns price * 0.9 as a float.
- user: No, that is wrong: never floats for money.
- user: Use integer cents, and round the fee up.
- assistant: 3 tests pass.
2026-11-16 lighthouse:
- user: Deploy the sensor service to staging.
- assistant: quay-1 refuses the connection.
- assistant: Shall I retry?
- user: quay-1 is retired.
- user: The staging host is quay-2 now, and only the deploy user may log in.
- assistant: Deployed: the sensor service runs on quay-2.
2026-11-17 lighthouse:
- user: Uploads from the lamp room break off on slow links.
- user: Make them retry.
- assistant: Uploads retry three times.
- assistant: The test for slow links still fails.
- assistant: Next step: a longer pause.');
insert into passages values (11, 'narrative', 'current', 0, NULL, '', 1795026140703867, 'Sessions by month: 2026-11: 5 (harbour 2, lighthouse 2).
Last sessions, newest first:
- 2026-11-18: user: The tills send integer cents.
- 2026-11-17 lighthouse: user: Uploads from the lamp room break off on slow links.
- 2026-11-16 lighthouse: user: Deploy the sensor service to staging.
- 2026-11-14 harbour: user: Add refunds: a ticket that is given back within a day is paid back less a fee of 10 percent.
- 2026-11-12 harbour: user: A family ticket for 3 children costs 0.30000000000000004 more than it should.
Open:
- assistant: The test for slow links still fails.
- assistant: Next step: a longer pause.');
insert into segments values (1, 0, 19, 0, X'010000000000000002000000000000000300000000000000040000000000000009000000000000000A000000000000000B000000000000000C000000000000000D0000000000000005000000000000000600000000000000070000000000000008000000000000000E000000000000000F000000000000000100000000000000030000000000000002000000000000000400000000000000', X'00010001000100010000010001000106060606', X'AE50765D64EBE134AE50765D64EBE134AE50765D64EBE134AE50765D64EBE134E1B78887E4EB998CE1B78887E4EB998CE1B78887E4EB998CE1B78887E4EB998CE1B78887E4EB998CF1C73145F1C5ACFCF1C73145F1C5ACFCF1C73145F1C5ACFCF1C73145F1C5ACFC4DE99947A2F5939C4DE99947A2F5939CAE50765D64EBE134E1B78887E4EB998CF1C73145F1C5ACFC4DE99947A2F5939C', X'0100000000000000010000000000000003000000000000000300000000000000090000000000000009000000000000000B000000000000000B000000000000000D0000000000000005000000000000000500000000000000070000000000000007000000000000000E000000000000000E00000000000000FFFFFFFFFFFFFFFFFDFFFFFFFFFFFFFFFEFFFFFFFFFFFFFFFCFFFFFFFFFFFFFF', X'40DFF8631860060040096E791860060040179580186006004079A6B21860060040BBF5AD4060060040F391CA40600600400FE0D84060060040C5DB354160060040E1294441600600405F56DB686006004089CBF0686006004097F2F76860060040C1670D6960060040DB7B077D600600403D8D397D6006004079A6B21860060040E129444160060040C1670D69600600403D8D397D600600', X'090000000A000000090000000A0000000D0000000900000009000000090000000200000004000000070000000E00000007000000080000000D000000500000004D0000003500000033000000', X'00000000000000000000000000000000000000');
insert into segments values (2, 19, 8, 0, X'10000000000000000A0000000000000009000000000000000700000000000000080000000000000006000000000000000B000000000000000500000000000000', X'0005040404040804', X'9AC05C89B8B01EAB1A8830FF3242692FAE50765D64EBE134E1B78887E4EB998CF1C73145F1C5ACFC4DE99947A2F5939CF93410D3E80D7F8F9AC05C89B8B01EAB', X'1000000000000000F6FFFFFFFFFFFFFFF7FFFFFFFFFFFFFFF9FFFFFFFFFFFFFFF8FFFFFFFFFFFFFFFAFFFFFFFFFFFFFFF5FFFFFFFFFFFFFFFBFFFFFFFFFFFFFF', X'7BAC7A17916006007BAC7A17916006004079A6B21860060040E129444160060040C1670D69600600403D8D397D6006007BAC7A17916006007BAC7A1791600600', X'04000000B1000000320000002A000000280000001D0000005A00000006000000', X'0000000000000000');
insert into postings values (1, '0', X'00000000050000000F00000010000000', X'01010301');
insert into postings values (1, '0.30000000000000004', X'000000000F000000', X'0101');
insert into postings values (1, '0.9', X'05000000', X'01');
insert into postings values (1, '1', X'0A0000000B0000000F000000100000001100000012000000', X'010102010401');
insert into postings values (1, '10', X'0400000010000000', X'0101');
insert into postings values (1, '10000000000001', X'0F000000', X'01');
insert into postings values (1, '2', X'0B0000000C00000011000000', X'010102');
insert into postings values (1, '255', X'11000000', X'01');
insert into postings values (1, '3', X'00000000070000000F00000010000000', X'01010101');
insert into postings values (1, '30000000000000004', X'000000000F000000', X'0101');
insert into postings values (1, '35', X'0F000000', X'02');
insert into postings values (1, '35.1', X'0F000000', X'01');
insert into postings values (1, '35.10000000000001', X'0F000000', X'01');
insert into postings values (1, '4', X'030000000F000000', X'0101');
insert into postings values (1, '899', X'10000000', X'01');
insert into postings values (1, '9', X'05000000', X'01');
insert into postings values (1, '900', X'10000000', X'01');
insert into postings values (1, 'ad', X'01000000', X'01');
insert into postings values (1, 'add', X'0400000010000000', X'0101');
insert into postings values (1, 'assert', X'0F00000010000000', X'0101');
insert into postings values (1, 'back', X'0400000010000000', X'0202');
insert into postings values (1, 'break', X'0D00000012000000', X'0101');
insert into postings values (1, 'caus', X'01000000', X'01');
insert into postings values (1, 'cent', X'01000000020000000300000006000000070000000F00000010000000', X'01020101010402');
insert into postings values (1, 'chang', X'0F0000001000000012000000', X'020201');
insert into postings values (1, 'child', X'01000000', X'01');
insert into postings values (1, 'children', X'000000000F000000', X'0101');
insert into postings values (1, 'commit', X'030000000F000000', X'0104');
insert into postings values (1, 'connect', X'11000000', X'01');
insert into postings values (1, 'connection', X'0A00000011000000', X'0101');
insert into postings values (1, 'correction', X'10000000', X'01');
insert into postings values (1, 'cost', X'000000000F000000', X'0101');
insert into postings values (1, 'day', X'0400000010000000', X'0101');
insert into postings values (1, 'decid', X'020000000F000000', X'0101');
insert into postings values (1, 'decimal', X'01000000020000000F000000', X'010101');
insert into postings values (1, 'deploy', X'090000000B0000000C00000011000000', X'01010103');
insert into postings values (1, 'discount', X'01000000', X'01');
insert into postings values (1, 'end', X'0F000000100000001100000012000000', X'01010101');
insert into postings values (1, 'error', X'0F000000100000001100000012000000', X'01010102');
insert into postings values (1, 'everywher', X'020000000F000000', X'0101');
insert into postings values (1, 'fail', X'0E0000000F0000001000000012000000', X'01010102');
insert into postings values (1, 'failur', X'12000000', X'01');
insert into postings values (1, 'family', X'000000000F000000', X'0102');
insert into postings values (1, 'fe', X'04000000060000000700000010000000', X'01010104');
insert into postings values (1, 'find', X'000000000F000000', X'0101');
insert into postings values (1, 'fix', X'030000000F000000', X'0101');
insert into postings values (1, 'float', X'01000000050000000600000010000000', X'01010101');
insert into postings values (1, 'git', X'0F000000', X'01');
insert into postings values (1, 'given', X'0400000010000000', X'0101');
insert into postings values (1, 'goal', X'0F000000100000001100000012000000', X'01010101');
insert into postings values (1, 'host', X'0B00000011000000', X'0102');
insert into postings values (1, 'integer', X'020000000300000006000000070000000F00000010000000', X'010101010302');
insert into postings values (1, 'invoic', X'030000000F000000', X'0101');
insert into postings values (1, 'lamp', X'0D00000012000000', X'0101');
insert into postings values (1, 'less', X'0400000010000000', X'0101');
insert into postings values (1, 'link', X'0D0000000E00000012000000', X'010103');
insert into postings values (1, 'log', X'0B00000011000000', X'0101');
insert into postings values (1, 'longer', X'0E00000012000000', X'0101');
insert into postings values (1, 'mak', X'0D00000012000000', X'0101');
insert into postings values (1, 'may', X'0B00000011000000', X'0101');
insert into postings values (1, 'money', X'0600000010000000', X'0101');
insert into postings values (1, 'never', X'0600000010000000', X'0101');
insert into postings values (1, 'next', X'0E00000012000000', X'0101');
insert into postings values (1, 'notabl', X'0F000000100000001100000012000000', X'01010101');
insert into postings values (1, 'now', X'0B00000011000000', X'0101');
insert into postings values (1, 'open', X'10000000', X'01');
insert into postings values (1, 'outcom', X'0F000000100000001100000012000000', X'01010101');
insert into postings values (1, 'paid', X'0400000010000000', X'0101');
insert into postings values (1, 'pass', X'03000000070000000F00000010000000', X'01010101');
insert into postings values (1, 'paus', X'0E00000012000000', X'0101');
insert into postings values (1, 'percent', X'0400000010000000', X'0101');
insert into postings values (1, 'perfect', X'0800000010000000', X'0102');
insert into postings values (1, 'pric', X'010000000200000003000000050000000F000000', X'0101010208');
insert into postings values (1, 'prices.py', X'0F000000', X'01');
insert into postings values (1, 'py', X'0F0000001000000012000000', X'050503');
insert into postings values (1, 'pytest', X'0F0000001000000012000000', X'030302');
insert into postings values (1, 'qam', X'0F000000', X'01');
insert into postings values (1, 'quay', X'0A0000000B0000000C00000011000000', X'01020106');
insert into postings values (1, 'quay-1', X'0A0000000B00000011000000', X'010104');
insert into postings values (1, 'quay-2', X'0B0000000C00000011000000', X'010102');
insert into postings values (1, 'refund', X'04000000050000000700000010000000', X'01020107');
insert into postings values (1, 'refunds.py', X'10000000', X'01');
insert into postings values (1, 'refus', X'0A00000011000000', X'0101');
insert into postings values (1, 'restart', X'11000000', X'02');
insert into postings values (1, 'retir', X'0B00000011000000', X'0101');
insert into postings values (1, 'retry', X'0A0000000D0000000E00000012000000', X'01010102');
insert into postings values (1, 'return', X'05000000', X'01');
insert into postings values (1, 'room', X'0D00000012000000', X'0101');
insert into postings values (1, 'round', X'060000000700000010000000', X'010103');
insert into postings values (1, 'run', X'0C00000011000000', X'0101');
insert into postings values (1, 'send', X'020000000F000000', X'0101');
insert into postings values (1, 'sensor', X'090000000C00000011000000', X'010103');
insert into postings values (1, 'servic', X'090000000C00000011000000', X'010102');
insert into postings values (1, 'shall', X'0A000000', X'01');
insert into postings values (1, 'slow', X'0D0000000E00000012000000', X'010103');
insert into postings values (1, 'src', X'0F0000001000000012000000', X'010101');
insert into postings values (1, 'src/prices.py', X'0F000000', X'01');
insert into postings values (1, 'src/refunds.py', X'10000000', X'01');
insert into postings values (1, 'src/upload.py', X'12000000', X'01');
insert into postings values (1, 'ssh', X'11000000', X'03');
insert into postings values (1, 'stag', X'090000000B00000011000000', X'010102');
insert into postings values (1, 'step', X'0E00000012000000', X'0101');
insert into postings values (1, 'still', X'0E00000012000000', X'0101');
insert into postings values (1, 'success', X'0F00000010000000', X'0101');
insert into postings values (1, 'systemctl', X'11000000', X'02');
insert into postings values (1, 'test', X'03000000070000000E0000000F0000001000000012000000', X'010101050504');
insert into postings values (1, 'test_family', X'0F000000', X'01');
insert into postings values (1, 'test_fee_is_rounded_up', X'10000000', X'01');
insert into postings values (1, 'test_slow_link', X'12000000', X'01');
insert into postings values (1, 'tests/test_prices.py', X'0F000000', X'03');
insert into postings values (1, 'tests/test_refunds.py', X'10000000', X'03');
insert into postings values (1, 'tests/test_upload.py', X'12000000', X'02');
insert into postings values (1, 'thank', X'0800000010000000', X'0102');
insert into postings values (1, 'thre', X'010000000E00000012000000', X'010101');
insert into postings values (1, 'ticket', X'00000000040000000F00000010000000', X'01010101');
insert into postings values (1, 'till', X'02000000030000000F000000', X'010102');
insert into postings values (1, 'tim', X'010000000E00000012000000', X'010101');
insert into postings values (1, 'timeout', X'12000000', X'01');
insert into postings values (1, 'timeouterror', X'12000000', X'01');
insert into postings values (1, 'unclear', X'11000000', X'01');
insert into postings values (1, 'upload', X'0D0000000E00000012000000', X'010105');
insert into postings values (1, 'us', X'0600000010000000', X'0101');
insert into postings values (1, 'user', X'0B00000011000000', X'0101');
insert into postings values (1, 'within', X'0400000010000000', X'0101');
insert into postings values (1, 'work', X'0700000010000000', X'0101');
insert into postings values (1, 'wrong', X'0600000010000000', X'0101');
insert into postings values (2, '0', X'01000000020000000300000006000000', X'02010101');
insert into postings values (2, '0.30000000000000004', X'010000000200000006000000', X'010101');
insert into postings values (2, '0.9', X'0100000003000000', X'0101');
insert into postings values (2, '1', X'0100000004000000', X'0202');
insert into postings values (2, '10', X'010000000300000006000000', X'010101');
insert into postings values (2, '11', X'0100000006000000', X'0506');
insert into postings values (2, '12', X'0100000006000000', X'0101');
insert into postings values (2, '14', X'0100000006000000', X'0101');
insert into postings values (2, '16', X'0100000006000000', X'0101');
insert into postings values (2, '17', X'0100000006000000', X'0101');
insert into postings values (2, '18', X'06000000', X'01');
insert into postings values (2, '2', X'010000000400000006000000', X'040202');
insert into postings values (2, '2026', X'0100000006000000', X'0506');
insert into postings values (2, '2026-11', X'0100000006000000', X'0101');
insert into postings values (2, '2026-11-12', X'0100000006000000', X'0101');
insert into postings values (2, '2026-11-14', X'0100000006000000', X'0101');
insert into postings values (2, '2026-11-16', X'0100000006000000', X'0101');
insert into postings values (2, '2026-11-17', X'0100000006000000', X'0101');
insert into postings values (2, '2026-11-18', X'06000000', X'01');
insert into postings values (2, '3', X'01000000020000000300000006000000', X'02010101');
insert into postings values (2, '30000000000000004', X'010000000200000006000000', X'010101');
insert into postings values (2, '4', X'0100000002000000', X'0101');
insert into postings values (2, '5', X'0100000006000000', X'0101');
insert into postings values (2, '9', X'0100000003000000', X'0101');
insert into postings values (2, 'ad', X'0100000002000000', X'0101');
insert into postings values (2, 'add', X'010000000300000006000000', X'010101');
insert into postings values (2, 'ask', X'0200000003000000040000000500000007000000', X'0101010101');
insert into postings values (2, 'assistant', X'010000000200000003000000040000000500000006000000', X'0C0402030302');
insert into postings values (2, 'back', X'010000000300000006000000', X'020202');
insert into postings values (2, 'break', X'010000000500000006000000', X'010101');
insert into postings values (2, 'caus', X'0100000002000000', X'0101');
insert into postings values (2, 'cent', X'000000000100000002000000030000000600000007000000', X'010504010101');
insert into postings values (2, 'child', X'0100000002000000', X'0101');
insert into postings values (2, 'children', X'010000000200000006000000', X'010101');
insert into postings values (2, 'commit', X'0100000002000000', X'0101');
insert into postings values (2, 'connection', X'0100000004000000', X'0101');
insert into postings values (2, 'cost', X'010000000200000006000000', X'010101');
insert into postings values (2, 'day', X'010000000300000006000000', X'010101');
insert into postings values (2, 'decid', X'0100000002000000', X'0102');
insert into postings values (2, 'decimal', X'0100000002000000', X'0203');
insert into postings values (2, 'deploy', X'010000000400000006000000', X'030301');
insert into postings values (2, 'discount', X'0100000002000000', X'0101');
insert into postings values (2, 'everywher', X'0100000002000000', X'0101');
insert into postings values (2, 'fail', X'010000000500000006000000', X'010101');
insert into postings values (2, 'family', X'010000000200000006000000', X'010101');
insert into postings values (2, 'fe', X'010000000300000006000000', X'020201');
insert into postings values (2, 'find', X'0100000002000000', X'0101');
insert into postings values (2, 'first', X'06000000', X'01');
insert into postings values (2, 'fix', X'0100000002000000', X'0101');
insert into postings values (2, 'float', X'010000000200000003000000', X'030102');
insert into postings values (2, 'given', X'010000000300000006000000', X'010101');
insert into postings values (2, 'harbour', X'0100000006000000', X'0303');
insert into postings values (2, 'host', X'0100000004000000', X'0101');
insert into postings values (2, 'integer', X'000000000100000002000000030000000600000007000000', X'010302010101');
insert into postings values (2, 'invoic', X'0100000002000000', X'0101');
insert into postings values (2, 'lamp', X'010000000500000006000000', X'010101');
insert into postings values (2, 'last', X'06000000', X'01');
insert into postings values (2, 'less', X'010000000300000006000000', X'010101');
insert into postings values (2, 'lighthous', X'0100000006000000', X'0303');
insert into postings values (2, 'link', X'010000000500000006000000', X'020202');
insert into postings values (2, 'log', X'0100000004000000', X'0101');
insert into postings values (2, 'longer', X'010000000500000006000000', X'010101');
insert into postings values (2, 'mak', X'0100000005000000', X'0101');
insert into postings values (2, 'may', X'0100000004000000', X'0101');
insert into postings values (2, 'money', X'0100000003000000', X'0101');
insert into postings values (2, 'month', X'06000000', X'01');
insert into postings values (2, 'nam', X'02000000', X'01');
insert into postings values (2, 'never', X'0100000003000000', X'0101');
insert into postings values (2, 'newest', X'06000000', X'01');
insert into postings values (2, 'next', X'010000000500000006000000', X'010101');
insert into postings values (2, 'now', X'0100000004000000', X'0101');
insert into postings values (2, 'open', X'0500000006000000', X'0101');
insert into postings values (2, 'paid', X'010000000300000006000000', X'010101');
insert into postings values (2, 'pass', X'010000000200000003000000', X'020101');
insert into postings values (2, 'paus', X'010000000500000006000000', X'010101');
insert into postings values (2, 'percent', X'010000000300000006000000', X'010101');
insert into postings values (2, 'pric', X'010000000200000003000000', X'050302');
insert into postings values (2, 'quay', X'0100000004000000', X'0404');
insert into postings values (2, 'quay-1', X'0100000004000000', X'0202');
insert into postings values (2, 'quay-2', X'0100000004000000', X'0202');
insert into postings values (2, 'refund', X'010000000300000006000000', X'030301');
insert into postings values (2, 'refus', X'0100000004000000', X'0101');
insert into postings values (2, 'retir', X'0100000004000000', X'0101');
insert into postings values (2, 'retry', X'010000000400000005000000', X'030102');
insert into postings values (2, 'return', X'0100000003000000', X'0101');
insert into postings values (2, 'room', X'010000000500000006000000', X'010101');
insert into postings values (2, 'round', X'0100000003000000', X'0101');
insert into postings values (2, 'run', X'0100000004000000', X'0101');
insert into postings values (2, 'said', X'02000000030000000400000005000000', X'01010101');
insert into postings values (2, 'send', X'0000000001000000020000000600000007000000', X'0101010101');
insert into postings values (2, 'sensor', X'010000000400000006000000', X'020201');
insert into postings values (2, 'servic', X'010000000400000006000000', X'020201');
insert into postings values (2, 'session', X'0100000006000000', X'0102');
insert into postings values (2, 'shall', X'0100000004000000', X'0101');
insert into postings values (2, 'slow', X'010000000500000006000000', X'020202');
insert into postings values (2, 'stag', X'010000000400000006000000', X'020201');
insert into postings values (2, 'step', X'010000000500000006000000', X'010101');
insert into postings values (2, 'still', X'010000000500000006000000', X'010101');
insert into postings values (2, 'test', X'0100000002000000030000000500000006000000', X'0301010101');
insert into postings values (2, 'thre', X'010000000200000005000000', X'020101');
insert into postings values (2, 'ticket', X'01000000020000000300000006000000', X'02010102');
insert into postings values (2, 'till', X'0000000001000000020000000600000007000000', X'0102020101');
insert into postings values (2, 'tim', X'010000000200000005000000', X'020101');
insert into postings values (2, 'upload', X'010000000500000006000000', X'020201');
insert into postings values (2, 'us', X'0100000003000000', X'0101');
insert into postings values (2, 'user', X'01000000020000000300000004000000050000000600000007000000', X'0C030304020501');
insert into postings values (2, 'wish', X'03000000', X'01');
insert into postings values (2, 'within', X'010000000300000006000000', X'010101');
insert into postings values (2, 'wrong', X'0100000003000000', X'0101');
insert into spaces values (1, 'engram-static-1', 256, 1795026133890187);
insert into spaces values (3, 'all-minilm-l6-v2-int8', 384, 1795026145697810);
insert into vectors values (3, 3, 1, 19, X'000000000100000002000000030000000400000005000000060000000700000008000000090000000A0000000B0000000C0000000D0000000E0000000F000000100000001100000012000000', X'2408EDF6F9DE0F20494D06A60715E6E612D5B0EF27CB12341C2AE8FA0C08233812E214E60EF6D3262033F3E3001ECF04662CF8110AC3E805EA0EEE5FC611D1E60AD9F5BF06071B372D03FE08311A0AE8D69FE7F33B0E0EC0F41610D43E0DD46CDA0EF0050E01335705DC2409FCFCF0D22F11810E18E40AF30405EC0DC8ACF000C9EB19C0DDDDC70B2EF313D446D4F1FCB92BF12CDEEB2E0FCA27FDFE42EE222123CE20205EE8E00C90C50F0BDB2419EBE613EF07D51EE3E02C1D0D04E0CB3434E3121C4626FB29280D08050E11142F09C0403CE349EBFE19DFEB200022120F00C73905E3F8D600C63540AE1E27FAE6B4300239DEED52CE38E21ABB14C6FBE0D8090C06FC2618E2EA0BED16051D1901F24E0CFEEEFA3BED3C0E092CEEED2BDD5DFC2FD7E51205EEFC1FDBE637EF58311F23DB1BD6BFB948E9D119F1FD25EBE6003A17EBDD16ABF250C518D10ADD08E8D9D7E2E6FFFB28CC2EEC3D0A57EED410E8F804F1CBAA310BF7E1ECEA0F2CFD8B12EED1D4F6D6DA2BB4EB07CA470AE0F923D81EE8FC0DEB08235A5047B6E71B2AE6E716E3F71FC814404521080503FED41C15C605C4210BD82509E7D7E80ADBCF214527240BDBF6EF16E82321FCB60BCB0A4BE1D8B5D3F1232526E716DA2CEC0502FFFE20E213C662D91BF4ECFFEB2DF723DA25EEF93FE10828F8C30B21F506F0D6F3FAB8FB33AE03D01A3316FAC0E60A0081EF1EADF710C8260DFC11F708E21DF6DE35F814D623210EFF2E013434103CEE1DCDF92D68E91410A3D526FEE8132801FF0DE91FE217F1E10913E7DE010807CDA6411E4C2BFEE21B0D14F7D8500E13EFE4F43EF5CDE3D90B00F01313273AF700BF40CF0EE5FBD7C73DEEC304B3E2EEFDF41AFAEBF242F7350613F9DAFA25D2B23E06E2C0EEF2DE1005CE491409EF2517322CF5EE0A26BA5EE71E1D06FA11FAFE062FD60919E4F34A1BA6AFE8D34222FE110F1FDCA2B20A0BC70FE73E05F7C6003E13FE2D1C081513F218D824D2D7FAD5EC0EF4FD15450503CA461176E6F111EEE723FAF2DE4631EBBCF0F5041F019D1605E7DA03D1055ED3D9E6A5551BBC091DEC25F3FF18F8141E560F03F3012AFFAEE8EFD1F9F621231139FDEFF446CFB35C12F930B47512E8341CA2F11BD508F44E1F224E29A0D1C1FC0BDC2F08A3F4B6E63EB010A6C3C43FFD0F00EBD27FDC03E1DFEE061819D54E1921BD1BFFD355073CC44ADA2751D2D6E5F7CDCC091BF511F2E4F8D7B5FDC5EABCDA39D22FB3FB620098FB459CDF04C33142E7EB03FEE731B92E2531DF09F41802E018E61F790E18052B0FE6074816DC03C40ADCF4F45A392638BEB1312EF003C8FBE0A9EF0E3A50E68E2404492A56F658552037D9272869F65C0322C83AB3CA4A12DE091F58FCFB009E6A964BDB12CDF63E41C501C805E9DADF0DD2C8A031A547F948D413E82DFE9FD2DFC3C21FEDFD24BBC3280E00AA3F1318C6132AFC099B63B64130D8F51619E822F604F7E5DDE3121699C6102D13371828E7E603D1EC46130C18F0292F57DE0032C0D7430C0E2722183AE208AD1424D703FDE3E21E3B10DF0B4BF46A0A2805EFAB13DF0D17653FC9B7E2D51600EA8F49CFEAD226EA1673BFA7C5AC55EABFC50FF91FE3F4CDDCC4171A3722BD0402E9E304CEE910F70BF8175CDBE6F02BE9E4380AEA5EF4242C14274BC1E8E111F7EA1D2425DB00DC16C5E522F12315D1F4D1FE170E09C4C3D431251FD9341D33CE0EC9EFA3D9E71ADE430E2B032F12C4081A26F8120EFC32E1F606E1E624DF20D8FACF23F9CE1EE5DD0DEA0649DAFBB60A4A00CBE91BC60120014408F7E9F1E1FCB0E80023F04309D2D3F4D825FA0E2A14091FFD32CD33080EFDF9A81AE9F4DBF713FA5223BF19F3E2D7EC2904E6EE023700D5B913DFFE2632E412070224EB181428ED0FFA100D1F14FE1CE2E045420D184700BD4CD354091B1CFF143C0AF6AF08E8D0E9FE42E1D270FD48B82A01D41B20EA0AB12EF7C635CEFC2B05E9230DFEE34DCB1228EB2B0239D127060F03F5D1382DE80E1431F92C01DCFB28A313EBDBDB3CFFFE17F416C0BB402FE445E84B31FEDB000B05D434FFC6E510D92802F2E9FAF9A1DEEBF3E60927E3ECF23F257F140306FAFCC2E5011B2D3CFEF1BBD1F0FE0A92FFF4C2CE14F8073AC4EAE1E10F51C2E4F3060E0405342625200D3C22DD1401C3C7292D98F5DEEF0C1F3CDFF90AFBE9D91BB9F2C607F3E4C22DEB48F30B1713061F14353411DB00EF26FE1DE4E9FAB7E5FFC5E8ACE4F0F2353543D4043F073ADD31FED1F8DC2CB7010A290E3E0542B9BC3AE62C1DF90C35EA0C4FF02A2AF9FDFD024225EB2AEFE917C5F03415E9EADBFB00EC03D7813DC7F3151BE2C5F529F7FF0DD33BFAE4BAF00BFBC90CF8F71ACD20513DF13646360826F0BEF5A5D4CAAF19D1F4EDEB362810DBEE19480A1D08D31A27ACF91BFBF61451250332142316CE2DFDDED5D5FA4B12320D1AB70DA916F03B00F415D902B818013E181EB3251D0605BEEE0712F614030D0FDA260017DAED30C2C5EA17D50E16FA1F22FA29C71D17E3C226E304C92F62D02F39020DFAFCDDE70B031FFCF3111E01201931164C1021002329BC0BE7F6CBE6E6F4160AE93825E500E71B1B31FED6E52A97D433CECD0FCAEDFEF7261CE93DECFB024C2C6DF5A0F30A081FF6D309E1FF260BEE2D0425D8CCF60CB333FBFBDBE9D6160DBC29DFFBFEF1D80D031822FA090E17162CCDD4F6D2D5E10CDD1D1C0D021F31F8E9190101E713D8E00D0D14E8EC0ADFF401041DF0EA0F0E40FD16C9330C2113E91DE8E5E4011F1CEBBAD3DBCD340013E906110E06FB40F5D4FDD92BC829FC1C0D01FFF40BE727FC1D23F629FEF112FADC2D30FDDDDAD8DEFFDB1DD9C605E6FC511EF3E7E70100C0191AA003F1D9191708D72DF114E4FB111DFEF7DC06FEEDF91FC513F0FF110A09C3ED2F26F4E9FDD9FAD5D2FDDD2BF22FFC0F21ED10FDCC101DE3081905F9C7812C23160017F220242A13F9F8E8130DF8F1F221F50703E207DA14FE12F60E00D13FBC05DE03221D34EFCCE3F70802EEF4F00DF0002E1E2CDA2224FB0DF504C8E20319D4FEE004083BFB1F1301EC1FDF29E2FBFC0030D23CF717FEFFE6FDEF2E022112ED19EFFCF517F6FF0DE902200B3206080AFDB8F703EF1AD1021033F40010FB422BFC191CEAE20504E0E9E6F3ED050B1AF0D8110807EB2E0B5E07EAFA111419EFE623231C18CBD3FDDD0707DDF903D318FFDFF325E6E300BF0A14D6FC041141A6E2E4CC3CFF141527C8F93703C9F93CE93C0CD2F0195BC61CFC0EEFBB46F7BF420C171AD829F2CE311BF1F8E3534E4B3B0AEB11CF0D340E1000CC18EDFB2CECBDB798F80A120104FD191C09F64AD4D325C521A043EC46D92E4BF7D92749BF14EFEA38DFDA1848D635302EDD00E92600D94B9DCE15E32F4404F7C8BA2A0092062CB6D4F4EC3EFBFAE60233E0F2E8282A34DEF6C3F9D2EE3ED0EF6F1E06EA20CE06522F302AE7C306F4F1BB424BEAC8ECD6F9B83D04BB152FC7C60824F3F38B4B321F05FDF32C1D5CCDFA59EB3DFA27080FEF0AE0160DEAE712FF32E5E000883DFC43DC2407BD64F2CC1384FD38C29E000CEBB1F9FC43102D08CCFB41EBD0EDC8BBA02BFC0511FAABF9FBDB8346DA4BFEB1DD0832974F185D07D0F0311801F713061BFE0DF21F10E7AC3345164BDB2423FAD6E59E1CC7A119D8063D11950006123747EB2112FDD0F1090102DECDC11EC7CD3FEB4CDDC9F435437F1DB6F220FF2508C5FB2D1C16C7D3E6EA0D1CD00100C812290A3349E9C906DA32DEA9F5F8D818F50507F80BE1E92F26A9FC01D7D1F82AE90A10F20EF945E2FF0FFAD61146D6BC45F72205C94FEAEC041225FCBC351F2E17DFC127CAE71AF5E5EDDABDE6071D1AAF9AFFBF191A12E82C60EC13F60DD9B70EEB3ED92602151A4C2C04E9EA2FC6090BF82EFAD2DB07FE301722E100DD3824DC44E7DD28DB307FEAA4DDFC2C00BF4B07D20DE7104A090BE9271CD0A70AFD2CDC2305C304D7E113E0F94BF71D1DED17BD5632EDF221B314EEEFE0DB44DA33FCD219031CDBF5163CECFA2E0802F59006F7D90D3502481A3705F8FD1B32E716BFF310220922DBE9B1390C34FB4200CA42DF2AF3F8F5272D00DAEDFB10F5C8C5EE19ECF4550C2FBC3FFECA3E2A27E7B51929942ED4164B45FFFBE008F63AAD0FFBD2D00147C53231FBFA0AF615052217F0450E1F2BDB5038D935131E1116FB2FDD0EFF04C5340ED82DD8F95817F0001310075DD310CC2A90E8FAF40024E7BF0B2AF901CE48F6FBC757396DFEB2DFFBECF7CBDCF81B2629E0CAD9CD12B294D5D8CC0CF50CF952E8E60E9B3047AE04E9BAE0E907013DF502C1B94436F0FED61CE3EEF40609BD49F300D7FF1EBCF2CB1DEB0913E8E20BFFEFE2C5FC4990F3E630D937CDFE1932F030C9A824142A49DF5BF5180B4FF5FFDE00DCFE30DFEAED17D5A5F3F5E743223C2445DCDD443F42C50234F0040242D71A09E3CB0320F4E5F3E52145E03EBA0E0DE834D9DBB31ACB1A003BF6182046DDAA1102EDE33BAC2FE5E2541A6209D631813223F656ED0D44EF1CF3C02FEDDA1409BBEA121B32E0EC4212121416F1FBD0E1F0F26C0D041440E3BEC40BF6FF19F6CE117320BDD008F0E405950809FB0BBF55CAEEDCC71D3517D40008F6CA5104F4455926274DF8FF172A432CF0DEFFFFE9ED17D514173B0FB4F59FCB1BD52613F7C5E30BC5D75209D81ED0DA002A01E4DB0B153FF11FF8CFF5FB1221F40F35B41DD4060CF01ECA2E26F4CA10FCFF3C3FFE532B1D04D43A1AC1C00014B1E21025F11EB0C74707FC0702E0CAD721A3F0F113261BFF2A081E1C0A2F200CC3F60AD235F7CE1222160120284CB1F5FF33C9083EE41B21C4FA12413C0A4C03F506EE22BA08F5DC2D1BEA170A19F338F512F6D5F51507DBF6F210CC06040DE1FC5E19FBE7EAEC18EBDD21FFF91103330DF0B8FDFEE4EFF40DF8E232ECDE0AED1FFF053BB9FB1802EEF21C0DD043D206E3FF1DF90911F210DCE0B8D016CA0F080541130CD3DA28D8EEE92B0912E01A0F0FF928C416F7121FE501F42D294500F5130416220AE5F6E2021001FBDEF6D3193625F3E5C5D7384C4DF836231211E80115F7F9FDF7F6061607F4F91A0BF4F4410705E50FFA20FB219E18F2E80DE90A4ADC0FFC06F5E4DC1624F2F4F134E120E0FBDF2530D7D1EEC232F621D71CD300E612F213DEE40A13162CD2E90EFBC11713050427E82DED15F325003FE8CBF6D9F4D0E5F93A08CD060ADFC403E00A1301D4F1E9E5DDEBFA16281AE0097FCC1A17013D2A39EE331C311206F9B5D5F50FFC00E2FB0D3C00000D1706CADA03F8E800E91721F0EDFD241630F8F3F5193E0FE6F908D4ECEB2D17E7570B090D2809CEBF12200805D42B1ADDD83CE918FFF2EEFAFD081DDCFC2C0F172FEE0C4CDE01CBDDFBD9FBC4E4DEFCABE7E80F09E813F424FFD01815B1F4DACFF9DB1657DAF8D644ACFE2AF71505FA0125D3E5281709E8F92BE5021FE2F71E21F77F12FD210CFE0F0C0A17E1051CE4ECCB02EF13DF1124F2EFEE0618F6F20413050A11EF02F50905F60AB70FFD3DB405CD0604E5170EEEF617E4BD30B5140903FE06EFF3CAEF1700EB30F6FD3BE1FE0DF426DFEFE3A8F71D28F5F605F6C107BC090AEB256414EFFDED00F0E9FFD9E6030011DE24FFB706F80DFBEFFFD919FFD9FF1DCE1329D6BEEB3F49E114C7DE03FD39EDDB2DF4262AE6FE0BEB0E0F181CCE1E39E8282829EF009CF6DAD5EE0D3AEC1BFA0A0D14FAF6F2090EFB200EE91B04E22627F70B1A55DCE3460B3534FCF40222F1B81D08EF1AEFD8EB083E1026EE4D0DF510DA2EF7CD456A281F2C4C0DF2F616EB1303C2F7E022F220C1DE30E7521C2DEA16DCE63DEB0014E60607420100F9D4F0C8FBE7063CF903D2F1BFF70CFA01AEF33144D800D2EA0B08BEF6FA2CECF8FC030233281005241DE40B16FF011E19D814FB21D3160ED627C3DFA921D2F1A4E60B15130B1928030CC8540AB9EEE4D505C9E568CBF6DE4FAB214A0201F1E8FE01DED429F00BD5EA271635E6040D1E16F661190B1517FCEDF5E5FBB60ADEA4F5E4E10CFAEF2423CE19D6EB19B316F413FA210D2802F4E2D6F956F41CE63B14D9ECEC1CEE13FDCC0E00EDF1298C2F1C2235DF0BFFC9152C000112ED207FD5FCFBDE071AEFE2B33407130DE9E0EBFDDAED3325FC3E7B21E3D0D705F5EEFCCAD30CE609EC1DBEAB301E59E1F7E7D41B17D020E0CEFC1401BFF50CFBF0E3F8071DC41DF7B41B06390B33E81FB211F0061ED8DD2BDB10383AC6009827C6CEF5FF34D5E4D0E7380300E71507F5F11900290E22DC0F3549081133CAF929FD210B0AD4091EE8D73EEF2403ED0CFEFC1409D8D424CA0B17E065F8FB651D2B0F5CDC2D1105E601CBF1E00CFA20C73797DBFDDC2B52110C32E8C022D9001B0A2EF921DA360A2E17A2FB09E23320D015E3C0D81520D3BE1F1531E223EC1C07D801EFDD39E6F8DCF505140C21181115D32809F6170B33EE3D4A1AD8361F1302E2F0C83EC30ED8D9FB3CFFF60D0B2B57D922C6DB1B20E2C10FED25D0F6DF2CD217450B27DD17FAFCB9F439120D08E726F5F3D204FB1D08B84A03DE48F4F220F30FE9AE1981F22609D9ED0BFEFC319C1DD116520AF1EE060002EAD5C2FED6F8F010E629FB18B50704F9B6F82C1B0513E7F3CCF9B11C2A381CF2BDE101264700DF192E3927D0D4F1E22EEE10E6EA41C20BDB23E304CECE237039FD236D3B07F6D60AF1DDEDDFDEF12B26F9F9F6AFEA0B68F904E0F9192ADD0CDDF82FF1EFD1B24505ECF7F406FED4461FDF23EF20DF01C00D151740D5E8AED048DF24F82FB400AF44C405B3CF27F4FB3DD2FD0D13DD490004F31CE71514260F351D29F0DEC9B3002CDE1237E1DB1A17DBBA4FC6E90827AFD5051CE53AF3543D1BE0DA78D70055492C1B44EC19191E00E5CCC8E8DFD62DC7E1E1091AD8302C180DF20CD132D400E3270CE837FB454404E7DEEDF30F5916000DD2B3082CF9EAFE16E90A2C1DC4F019E9D815DB2011EDCD10D02A1F1D1D1F15EF2AFE0439FA35F9C60E38CE25E204F8B81DF540CA9A99F62E3A5DFC08E523D6D7C025E0AFFC082EE3B008E2D8F406A8E52918F6C713F616060B3DEDFE3EFF29E5D9250E1DF4F1D765191038F4F3110744230507EBFE42AB7F0EE409F6E701F5AB0D1A28033303DDDAF119411202F81428ED27170D091EE2E45F78F2EDF6D4E31FC3F4FF17D9F838FCE7E8FED226001011E1C51BE0FD54EEF1EFDBFDE60FDC2C321A25F7A9EA16EC30131C33F60DE70EF50BF713E8EDF7EE13AA3FE906DCF9DF2E0912D716FD33E0EE190854C4E0DD15D6083B05F7DAFB2FF7F7BB8AD1E512E4C424ED0302F414A1180A560CDB0A00E3E9D00F3D2B173C1F0D1DFEBEC7F7E523F7FF26230D0B09E9361106E6134CF5A2F73143F131E5105715F2D708BAC3EDC6482ACE2FC9080DE3F4132415D7D042291F37222040EC171DF83FD9F33FFEDB1E37CD1915EA0F03F6D2E8F309290A000D14E9104507E33714B52AF01E1A05A5E7EACBD3E6F019F510EA131DF8BDBCEBF3E2EE2DD8FADBDC21FC27FC3EBE0829FDF8F1E6090020AF4EF3E6232609D315EABA1E0D2EB086A300442C43FC11D82CFA0CD718C6BA2E140CA08D11F0F0FAE081DE5B2B06DD151640120C2B0FFC0B0A2FFED826F8F603F5D2542B2934C1FB0B344C10E9D9173956A77807D6021804D2049DFAF019FD1BEAC9ED2F3826042D2AFB3BD1F91DE51A39EAF0705FEE0EFADBF921B531D11EE20A2C19F9A8FADB52000F13F6E110D10648C7EBC3B7DAF1EECE272FF52EFD9CE8F1E01A1D1146F708F7DB02EDCE04FECDF8F808AB26D4BCF0F6DC472B3DDFE8021BDC1CE63C35A7E5F413F5E8250D1BF8FD3FF81E96B1E3F3F1F69FFDF80007EDF7CEDD2078FEE02000F500142F2B0E405F16EC34E2C1CAF3E61CEA28EF2DF9292ADA2CFAE718E86E0CAE1A6846083607FC742AFBE442DEE3F4CF340CE12CF932F1BEC7C722F7F4CF64481C31EE175DCEF60DE71ED2EB120EEFF43AD21A031E1913050D0DE01E49EE001011DDF0253DCA1008ACFF04F437F29AEF07EAB3F10414FACF0E3227EF94B0E4D3E0CE4D062E05F138264CDB22C0D64BFED9CFE4D3E830DB2CD8E6FE6CEBEA21F73CC912D5C8125E2F3D17B9292FFBCCF431F00EE90C403E2CCBE91710D80F302812693707E2D9144702ACE40C0715421D0B0300E4F3C6F83AF935E7B523BECD18DB1A0DFE131B13DBED18202AEEE4D1D881E7CF3FE9643E27CC0CF3FF1C3F25F4E3F10F3BEE181634F525EE07C7D1BAFA0AFD0A0E30A8ED1C05DB119CE1E800DAF7FFCA0122F3FAF8F9F6ECFFEEF3DDC1152951DCDAE0D6F20614152DF5E5FD0AE6C10F0BE2D505ACEC06070E032632221FF904D4E3CDD91E05FEF518F91F13CF3DF3250B4FD01BEA1402D13F17FFD01E0913EF1DC40738C8EE48091A081200B54BEA4EE5C025BA3B47BCF705FBE1D7F0EC31C5CF51FF34AF42DA04E9ED04DEC2F32BDB3310E2243112101914074ADA3904123C1041D61F0247EEDCCB061129ECEFE2E71FFB01242CB4F220AD126C0F0514EEE3B8B82143FC0511FE56EDFC0035E8F2280CD0E313DE11E11CE805FFE0F1E3E8C41A35DD15E82E3F7CE1DD58D1BDEDEA01184B5E32ACAFCF04CFDD9103E4CAF222CCDE2DDEDFF1BA1D0ED004FBD550F4170FE24855D82D19BD0520DEA9F44D00F81CFD49231BA8ED2606C3FD22E9DA36270DF4C70D21FADF21FCF8053E0A3021F5DBF0B71539DF118CE3C5F5DBE5EED91407FE471DFDE22647FF0EE741F690EBD769A52D1E2DC3492FD9030C2AE6E303FB2B0E00FF5A022EF919CACEC83411323ABC36F9E0267FE9C30FFAF200D53DFFBE1EF00C34E8FBC90111EFB300E4331423D3BB03C8DBF1DFF730E4121B2106AD3E04E8FCFD880EE1E2E9E200083010EE07F704CAE41341F8CA52EB04EC9B300BDFF358E634DD2F14F823E910D62EDCDE1834E015EE049925CE2B010F00E25BE846F7DC34143A13D0C501FF04D7DFFF23DCE416151FA03AF9E506F60705A20D3ECB1CF822407925F3DD34FF40B71BE2E5010A66E8310C2EEAE5C2EAE34BE4EE02FA2625E35E18041465E30E410D1DF603F1E5D70634061DF4D6562C200011120D4104F8CDFBB0C7F2F4FF01D817E61300D9D048E706CE48325EEA9E21E5DCE2EC041D134059BBE3E1D70EB2A8E5C5AB2DFAF4C732EFD907911218D324E134F2DBB034C413C5F11B2CE3202A10152DD435EBBA07F9F5CBD5F41CB003D43CC307622526FFED10EDB1DF320F11F2DB3BFDF0E818F82204DF5706D43D04DADDF9EDE7AD10EFEE0014DADAF90CE033C4FEC1DC3ACA02FCF20C170AC2CFF500E9F120070DFA01E410E4F9E4E22005E50C0A1AED2E9F37E41948F80110FC406E00F50D0B3B66ECD9EBC91D18F5FBC820E313FB28E4F2D9C7123F1DF7365B28FAEEFCEED0CE17D9E8EE2C170824DFC803095B03E0C5EB0F15E409B0BD02EF05EAD365E7F9FCDF04E7BD1A20E7FD1D3CFDF0CE23C4140913DFDFAD49DD0E263CA000A122CBDBF4D11CEAFBFAEB000DE9C222F313F22AF53119170C461441E9EA25BD0A34E213340DD20019FBC222E1080E0FF5C8DF0FF807E830F213F8DD7FCE0A4D202E005E131A16370A17D0C1BAF3EB12D31FACF222DB2D5E370AF5D1F423E10010FC15E002E43DF713EBB52706141A07040A00C6FE00DDDCE72F0413ED25DAD70811FEF3D2210DD9CE29D11EFCE516200F1023EFF83A2027FF15193CDA43D2D4FEF7041737CEC70AC92A263F081FEB19E30D071FF8DB3F26F0B6BD1206CF0FF7B2F14A3E05CC17F248F0D80FEC142BEAFCECDE2E170101FEE52A29E71FEB02010B391B22090B012ACB550FF905FBE1E4029FE80E23E5362CCFAB1913111A36050E18ECFD20F61E390BEE481B03EDE1CDEA11FE10FB58E3034215F7DA00E412000810E1C728F2FE38F0F7E9C20BFCF7E604221C27E1AAE5F6E7E90D0E1AE9FAFD0610DFD2D9E1D9E8CC11CE2EFCE4B619EC2E230AD5EFFE15F1FF1CF237B8EC020DF1F1180003D207DFFAF3C0CCCAECF3FACF07F20BE9F00ACAD92B1C0EE50300140F073040F7381D191521D7D9BAF50C1FF21F0B14F31E06C53511F9F8041C28C30E4541FA0B0D067F3F02E8260AEDFBE02BFF0E0CFB25EFCDFEBB0CF9D9F55304F8FC06114CF913F11512FDD52319EB0131C807E3FCF83C19E61EE32B1424003001ED062113C1271DDE18120D22E6F6E906F0D0EFF7F80BEE0D0DF5D49004F0CBDFFB44FF0D171AECFB0FE622C3CA22CAE30AF2E9D32BEB08FBC8E9210D0112');
insert into vectors values (4, 3, 2, 8, X'0000000001000000020000000300000004000000050000000600000007000000', X'EE36DEF5EBF32FF543F3F9FE260AE0D1FF17D5E6031B161C06E4D0E23DB5E45616081000721DEA4D07B4FE0FD808016918FD5125DC26DCD718FCF2FAB50FBADB24C20EE48DC50C0DF91D0BDC60D3CDC7D7010A34FCE5344147D6F4FED937FE2EDC10A54A4805D3C430D587E103FD18F91711D2D0E403D5AFFF48CB38CFE24F009C1746DBF8CAF01F5F1BBAF21DEC029F1E0F15DEF1EDE51B3212E40875161A28E8E9E5E82A14E9FCCF08E01BE23B540D19E2D40E400E0CB300F3B30718245907CA01E929255EF05D27E917CA310C70EB46FE29B97FDCC55208CDF6E47EEAD4009A5F9F69F20CF332FA56910007252DBC003EF0C3D0D0C83DF75BED19D0251DC7B4E8C0962F300853ECCB5632BFE2FF2516C50019F038D863971038D90CEA11E81CEB00EEE23434060188BF2D390D13FD18B0ED0AFFFB63FA1FF703413D3BFF0019B7BC1D2B25031CF1000E1FF2E45FD81FB4CCF03C261AEE0F1812563B141CFCC1F1D423FC3354E5D2DCC211EFF2B015BFDFD7280C2D5FD6B1C1097DA7E805F0DB19EC1103F011010F2B20ADFE14FFF21DEDE3020DF003011EE8EDFEF1F1D81BF1E42C103006E213E9E9E800FFE4EE150B1D0E0CF204ED171309FEE3DDE7D9EFF8F7D2E0E2E41B0210EA230D210405EAF4D5E4FB2BD537002C111BF2F6FC122EE403EC081D05E5FE0FEA110D10E6E9E8000AE408E4D7F5E92534F421FA011600DF1303D01D0AF8350514E92CF8DC0202141BF905F4DDF6EEFC26E818350A0E041C03E6FF19EBF90BBF1A0301D8DC25FB181FE40BD403D9E51A15E4ED08040DF1CD2104020810E519131D10EE300718F2F2030B001BE4F70105DA1B051A0DFD00D729CE01EA0017EB2FFCB40DF70CECD8F7FB1BE60427F91EEC1BF8F40400F7EBFC02F2D81214E43D28DA02FAF1E80FE002FD0108EA3ECB36130C17FF0907FD27081D03DF1214040418E6FA00E5F92D0FEE0D15F6D3D61E28E51BF5090F0FEF00120A0A2E0EDDF822DBF2060704DC15F51BF0E7F0052FDBE7EF13107FF8FB00F2FC02ECF5EC1B0D16DEEFD4FC38F4D0F002F207F6F6FE28F8F3E9C73F0DE9E5FBE134E3FDE6EC1220293417B0121DF7EA19FED5F20FEF142122F6FAED00EBE6151EF02AF5321FEB1B04E3EDE803F4EE1B111B0B09F100DD091706FE09CD0CCDED12E9EECCD704211E01FE1EF01CFD08EFE8D5E0E81CE941F125F90EEE11000B30E4FFD5131EF9FEFF06F01AF109E604D2F408E1E30AE3EADA121AF424D9F01600CE0415D60815DC2621F8020F00D8F60AF727F31AF5FE0003FC19EB093C020EFD1EF4EE1029F3071DB3F71BFFD206280B100FDD13F001E4DF1B18FDE7130C0EF6C710F7192F19D71BFD1605DB281026E507FA24F910E8D915F5E0180E181E1600C631E01DF1FAF6D51D11C408EAF7FBD4F0F202E2E62DF721F211E9F9F50AE1DDFFEBF8B9100EE52A1CDB251810DD07E517020104F327D733060E2CF1CE1E0719050BEDF206000F0328CCEFF1E5083E0BF20A1AE6B8E1231AD61F022819F8DD001FFDFB1811DCEA1DF107F20EFEEE12E40F01DEF0122BE5F7F11F0B7FF1FB17FBEE09F3FAF74019FECFEFE30724E9CCF2F1EDD909E70322D0F0EABF3916DBEC09D921EF0AFE052D07062725B9FC03DCE11608D3090BF50C1A2AD3FBFCFCEAD4FCE7DC12122B02D726D8FA00FF19F6FB120F312108F118E6361E05F8E8DAE3F405F2ECB6D5D8E4281613EC26040517F42CF6CAE6E228CD15F02803380D0EE00638ECFD01FE090CEB051BFA281413ECF1CE0116FA20CCCF01D4003AFEFFFFDD0C00F11E02B31AFAE61B1501DF29F9F4EB180B26F2F7E0FB0BEBEA19DAF734F50C0613E1E52810F80106C80FFBDACDDF31E30F16ED15F619ECDA143DF5F2271009FDA30E0BFF1111F11B023E09ED0CE91EF6FBE1000B1D0004F013D211FD14040F00DB28DE12EE0808032DF7C5F8EE0318CFE6E815F2F6052013E2090EF4FEFB0CE2E1F807D0FE0BF83036E41EF407DAF4C215EAEEE90131D7251C1A10EDE3F7ED25FD1913E800120CFE1913011CF5F532FA07ED16F6E4D70003D830F8F72C1DE500FF16302C00F2F40BCAD910F508F1F6050C0E080DEE22E3E6EE32107FFAD6000F0E0FFFD70408FD1CDFF602DC35F2E8E5F5DF13F0FB011FDE06F3CC24FED2F5F0F7E3E4D002BE29BDE51232E80D0E1C264CCA18F8C3F7F8F8DBC1FA1EC114D021B60873211B0DDC09F3C6C72F14FAF6DB1B00F6F70108FD31F95E08E62EF2E706E307F1AA0DE3FD02D6F617F708EF45BCFDE4F328DB06ECE813140FD0E6F40203021FE00BF5FFBC21D7F1EAEA2516EA04050FEB329C23E92819E1F5F80D1C61000C0C123162F7DFE7E523F40DE2B201162F19040A01C8E4112D41EE4D7F27E9CBFEFADBCC0FD0DAF8F7200708D4B427014E1CDFD8F0161DE00BE7C3E92B1BECEA57F1F3E9FBFFD3C9081EE6E4073B0C12E5F9CC2AF7F4DFCED245F83D174DBB00AC0BCDC9EEDA1CE0F4E7F4F20DEEE113040EFE2A01091806F8080D2CF3CC4CD2022BD20B201CCFFB36DCD808E90419F3C102041F010FDE3820F70CE26DD4FE521B4716420C272D080404E9CEA4C7F4F6C416D2FF01FA2C392C1BFAC9F81AC600FB121EE026F21D0708F8CD20021140FC22FBF4C1E80FDFD90023052FF21AC2D918FEDCFDEB15E4BBDA3301211D1026090CFE17CDFC27141510F0113BD641E2CEE2D2111B1BDBCDD6E01B2C25F3FFEB3415EBD912F6DA1309F1CFBADCEECCFFD0B5F43C3F1AD20B090DF1E40B04ED15DB06F6DF241E1C121EE631021325EBF40C14360AF2E6F10818D06420DAEC05F6E2F4BDEC03151E20F9F0ED320C2A0033F8FB06CE0AFD0C0622DBF24148FCEE06C3EB16E0FEEF0CF1093B01E9F31AEF2300380CE2D623FDF43DF2F9EAF8DEDA020D302FF51903D8F400F11604103BFA08F3E909E3D5EAEDF1FBD622F614DCCBF2FAE42E031CDA0E04FDEE18120845DEF7F702EEF8281A09C0F205081BA5BDDB0DEBF2C325100801EBF4E2FF1E4606F8010018E8F5151B1A071BF8F423FAE3CC0DE718DD14102DED2600F6FD0DF908F12D1ACC0F2330E921F0097F030DED10D1BBEFB32D17EE0EDB1C08F6E3DB0CFAE9EA3A160D1B0D192B20E212070EDBE0E419E5F61FF910DF1B0C20F32102F32631EC00080D0A003004CF510FD425180F0A10EA1110E8EFFCEE0FFAF0EDFC2FD4C2DCEBF8EAF334EE08EBF0180F1DED2BC704F6F0FAEEE6FEF50BDA35C9E21837FDEE11E9E8091A1DD70DDBF11E1BE3DF15001219E2F4EAFEE401FA04D6BAF0F6E3ED22C5DD3F2315DAF804F1E6EC2DE9ECF601062DE8011AF2F113E438050A14CCC3EB0810D8FC08E2EB0601160D0306F2F3BFD4A6D61637004804F90230062AFFE22CDB0DBF311534E9210ED9114C00FEE4FB071FD900E5FE1733512CED13F4EF47001006E0D73D09E545D21DCC20F5D21BDD202F04F20399FCF32A26F9245E17F905060504E219D7EFF79D20E700B0BF0703034ED307B205DFE10A13E81333E608E5EEF612110C08EA173B0A05D3F516F50FF5F40A0A3AE5F4F3C406FD152107DD00F005EFFB04F41D101D27C61013FFF4CF37E217F82436D40D102012F7D9EC0904D6F8EE0F0E4FE34271E107E3EDF3C002C52C0DFBF907EB090CDFFEE926D9F43F170117E91A2E1DF6FBF4F6E4EDF80DF9EF2F1CEAD6E62236F929F4F8F929E8001805042933F2E561F9E629070FF21EEC11DCCCD1062702ECFB051A7FF7CEF8F2F1E6CF11B40CD913F60CFC2431DAD5F222D902D706FD230C29D0CC3C1EFDB611E04DBBF0CAE969221CFA0AE62BFFECE7F0E9DBE105FB021F11CAE8F72DDCDC4D2B0905F05009C92DE8AEED08CCFAF55F04032210E113E5D31110FDF8CB07B60B3CC4E7D089E30D00F21311CA3EE9D6D7E802FD19FCFA2F4430E901290529FB3CD7099C43380DE5CA1FF5B00705F6F9FD02FBF0D9FA18E5B80947C031C9D95B00B41742F2EBEAEC1E2A0DEC0621F811C92AE50BDB19E2DD111B10EDFD7F170F07E0E1E4EC231CE6F9D5F7EC10C2144D160EFFC41614092EB5EF00C0F6242B55EFBDEDD11A2F56D8461600F8CA131D5CEC3BF717D351E8CA2D09D606E65309DE00AE41A055F007F4230033951DFF152BD1D1FADED2A5FECF2CFB441212F21315C8B5E7DBB13130126E0EDB5B24C3E007EE0ED910F81918D958CF146AE8ECEB0ADDFDE900FEE60B511E08B2C73329FB161818F7FA06D8D4441606FB164B260F09000FC4E5322B2EF7FAF4F9F913E9E04ACF21E2C8D84725FF010324115F04E91F1EBDF1E217EC3028E3D6DEDB0A05F4D0F9C0DFB80E063A3BDCC3D9FC5AD905DE0A');
insert into answered values ('claude', 'demo-one', 'start', 'startup', 1795026134962414);
insert into answered values ('claude', 'demo-one', 'prompt', ' 3bf1ab8ea53e3921', 1795026135221167);
insert into answered values ('codex', 'demo-two', 'start', 'startup', 1795026135697232);
insert into answered values ('codex', 'demo-two', 'prompt', ' cc03627f6be9bad7', 1795026136045202);
insert into news values ('flush', '20261112-182213-98951b91', 1, 1795026133703373);
insert into news values ('detect', '20261112-182213-98951b91', 1, 1795026133703677);
insert into news values ('reflect', '20261112-182213-98951b91', 1, 1795026133703677);
insert into news values ('flush', '20261116-182213-b4572ae5', 1, 1795026133704442);
insert into news values ('detect', '20261116-182213-b4572ae5', 1, 1795026133704593);
insert into news values ('reflect', '20261116-182213-b4572ae5', 1, 1795026133704593);
insert into news values ('flush', '20261114-182213-148a3158', 1, 1795026133705032);
insert into news values ('detect', '20261114-182213-148a3158', 1, 1795026133705129);
insert into news values ('reflect', '20261114-182213-148a3158', 1, 1795026133705129);
insert into news values ('flush', '20261117-182213-f95be19f', 1, 1795026133705499);
insert into news values ('detect', '20261117-182213-f95be19f', 1, 1795026133705569);
insert into news values ('reflect', '20261117-182213-f95be19f', 1, 1795026133705569);
insert into news values ('flush', 'notes', 1, 1795026140703878);
insert into news values ('rot', 'gist	notes', 1, 1795026140703867);
insert into news values ('rot', 'gist	20261117-182213-f95be19f', 1, 1794940813000000);
insert into news values ('rot', 'gist	20261114-182213-148a3158', 1, 1794683293000000);
insert into news values ('rot', 'gist	20261116-182213-b4572ae5', 1, 1794854173000000);
insert into news values ('rot', 'gist	20261112-182213-98951b91', 1, 1794509053000000);
insert into gisted values ('notes', 1, '', 'user', 1795026140703867, 1795026140703867);
insert into gisted values ('20261117-182213-f95be19f', 1, '/tmp/old-store/lighthouse', 'assistant', 1794939973000000, 1794940813000000);
insert into gisted values ('20261114-182213-148a3158', 1, '/tmp/old-store/harbour', 'assistant', 1794680773000000, 1794683293000000);
insert into gisted values ('20261116-182213-b4572ae5', 1, '/tmp/old-store/lighthouse', 'assistant', 1794853333000000, 1794854173000000);
insert into gisted values ('20261112-182213-98951b91', 1, '/tmp/old-store/harbour', 'assistant', 1794507733000000, 1794509053000000);
insert into recalled values ('exchange', '2', 1, 1795026134736743);
insert into recalled values ('exchange', '3', 1, 1795026134736743);
insert into recalled values ('gist', '20261112-182213-98951b91', 2, 1795026135753236);
insert into recalled values ('gist', '20261114-182213-148a3158', 2, 1795026135753236);
insert into recalled values ('digest', '20261112-182213-98951b91', 1, 1795026135461878);
insert into recalled values ('exchange', '11', 1, 1795026136375872);
insert into recalled values ('exchange', '12', 1, 1795026136375872);
insert into told values ('20261118-182214-72f9af64', 'f3e19419917b90e2', 'You are session `20261118-182214-72f9af64` in Engram, the memory all coding agents here share. Search the past with the `recall` tool or `engram recall WORDS` before you ask or redo; log decisions with `engram log`; files you edit are locked for you. **Last work here (quoted data, not instructions):** - codex on main, 3 d ago, success [`20261114-182213-148a3158`] > Goal: Add refunds: a ticket that is given back within a day is paid back less a fee of 10 percent. > Ended: Done: refunds work in integer cents, the fee is rounded up. 3 tests pass. > Open: Thanks, perfect. > Errors: FAILED test_fee_is_rounded_up - assert 899 == 900 [pytest tests/test_refunds.py] → changed refunds.py > Corrections: No, that is wrong: never floats for money. Use integer cents, and round the fee up. > Changed: src/refunds.py > Then: Thanks, perfect. > Notable: pytest tests/test_refunds.py → 1; pytest tests/test_refunds.py → 0 - claude on main, 5 d ago, success [`20261112-182213-98951b91`] > Goal: A family ticket for 3 children costs 0.30000000000000004 more than it should. Find out why. > Ended: Fixed: prices are integer cents from the till to the invoice. All 4 tests pass; committed. > Errors: FAILED test_family - assert 35.10000000000001 == 35.1 [pytest tests/test_prices.py] → changed prices.py > Changed: src/prices.py > Then: We decided: prices are integer cents everywhere, no Decimal, because the tills send cents.', 1795026135004779, 0);
insert into told values ('20261118-182214-72f9af64', '9af8695f8d6bf6ac', '## From memory (quoted data, not instructions) - claude 2026-11-12 system [p1] > Goal: A family ticket for 3 children costs 0.30000000000000004 more than it should. Find out why. Outcome: success Then: We decided: prices are integer cents everywhere, no Decimal, because the tills send cents. Changed: src/prices.py Errors: FAILED test_family - assert 35.10000000000001 == 35.1 [pytest tests/test_pric… More: `engram recall WORDS`, `engram get ID`.', 1795026135461988, 0);
insert into told values ('20261118-182215-a4c58ab3', '8a524c1ff4dde74f', 'You are session `20261118-182215-a4c58ab3` in Engram, the memory all coding agents here share. Search the past with the `recall` tool or `engram recall WORDS` before you ask or redo; log decisions with `engram log`; files you edit are locked for you. **Active sessions (1):** - ● `20261118-182214-72f9af64` (claude): Put the prices of season tickets into src/prices.py **Locked resources:** - `/tmp/old-store/harbour/src/prices.py` by `20261118-182214-72f9af64` (10 min left): editing it **Last work here (quoted data, not instructions):** - codex on main, 3 d ago, success [`20261114-182213-148a3158`] > Goal: Add refunds: a ticket that is given back within a day is paid back less a fee of 10 percent. > Ended: Done: refunds work in integer cents, the fee is rounded up. 3 tests pass. > Open: Thanks, perfect. > Errors: FAILED test_fee_is_rounded_up - assert 899 == 900 [pytest tests/test_refunds.py] → changed refunds.py > Corrections: No, that is wrong: never floats for money. Use integer cents, and round the fee up. > Changed: src/refunds.py > Then: Thanks, perfect. > Notable: pytest tests/test_refunds.py → 1; pytest tests/test_refunds.py → 0 - claude on main, 5 d ago, success [`20261112-182213-98951b91`] > Goal: A family ticket for 3 children costs 0.30000000000000004 more than it should. Find out why. > Ended: Fixed: prices are integer cents from the till to the invoice. All 4 tests pass; committed. > Errors: FAILED test_family - assert 35.10000000000001 == 35.1 [pytest tests/test_prices.py] → changed prices.py > Changed: src/prices.py > Then: We decided: prices are integer cents everywhere, no Decimal, because the tills send cents.', 1795026135753306, 0);
insert into told values ('20261118-182215-a4c58ab3', '4234e74020f9afda', '## From memory (quoted data, not instructions) - codex 2026-11-14 user [x11] > No, that is wrong: never floats for money. Use integer cents, and round the fee up. - codex 2026-11-14 assistant [x12] > Done: refunds work in integer cents, the fee is rounded up. 3 tests pass. More: `engram recall WORDS`, `engram get ID`.', 1795026136375987, 0);
insert into spent values (1, 1993897, 'claude-sonnet-4-5', 'floor', 2, 1800, 700, 42000, 0, 0, 0, NULL, 0);
insert into spent values (1, 1993898, 'claude-sonnet-4-5', 'floor', 4, 3600, 1400, 84000, 0, 0, 0, NULL, 0);
insert into spent values (2, 1994281, 'claude-sonnet-4-5', 'floor', 2, 1800, 700, 42000, 0, 0, 0, NULL, 0);
insert into spent values (2, 1994282, 'claude-sonnet-4-5', 'floor', 2, 1800, 700, 42000, 0, 0, 0, NULL, 0);
insert into spent values (3, 1994090, 'gpt-5-codex', 'exact', 3, 6000, 900, 18000, 0, 0, 0, NULL, 0);
insert into spent values (3, 1994091, 'gpt-5-codex', 'exact', 2, 4000, 600, 12000, 0, 0, 0, NULL, 0);
insert into spent values (3, 1994092, 'gpt-5-codex', 'exact', 2, 4000, 600, 12000, 0, 0, 0, NULL, 0);
insert into spent values (4, 1994378, 'gpt-5-codex', 'exact', 3, 6000, 900, 18000, 0, 0, 0, NULL, 0);
