-- The rows of a store written by Engram 0.1.0 with schema 13: the demo's history, and what a session noted.
-- A line `-- body PATH HEX` is a file of the home.
-- body blobs/6/5c277853fb2a069fd246ed86ad008d79ea086e50f617011bc97f68ba3117ba6.zst 28b52ffd6072066d150076687726008f3a075e60878445901ae4444a12e24487a34bb5e3f66b23755dd75dbb730c4297feff3f8469006e006a00d9fe7179293d06256b1786cbdb7252a565298fafed5b48c952b9952775eb294fd6e5ad28ec2d7e2e8407ae72f5e2d5391c1f36cef398081f07b2f4bce740ae433123c3b5e48aabdce435cfcb61548e2b43e7700fba20891be7f045e72fa2aeeb45ecdc55ee728ac30817c3401c29fefc1e317439b455d16332aea4a525c3b02cee2775e183d2bfb74d546ca39fb0156a4b81b62a67581c68cbc0a0ad8bf62078936e754c2eec2b43ada2adc9ab1cb12d2547d846a3e12a476bbfb24926bbca411971b82632b7ec9a3c895418c6cf3d6affcd6bcb341b036d357b98bd85aff2e29bcd88288a10d0adf4f5a2b9cac1ca731851044110a46dfbf796cd85cdeba03b2f79a515fbb8bcb3cace2c2e9db7786f25e96c5a1cd9c34451cdf309f289df833082a4e7492f625ec883d9c62eedb9d5cf0df8935303a85aee27af0473a61e9d2819ee51dfe3bcb60e4a699e50bc481d82a04713bca25f4e133154f4f750faec5249999965e93b4be0c89233358ec314d4340d135dd3c49152cd83d9960bb57d98699a26499224784c72dca62d86816c41c14220d4d6794a790756db22f0112a237f8c242834301c2cb455d54dab1b444da8f13ca48c414281c8443341aa0c0780222119333b1200c3200b422ccb186604060a469ccb3771898b03e0e310b220a53150a2b743b27a005d6351eac884198c7656a1ae5d7bfaa901848985a725f0700aa0a8412cc534f62050f361441196985dcc2f009f846182df7e3ea21db43ef2e9f27e2fc18f7a7d450db337cb585719554f20022beeb3e21ddbe33c3acb807d0260c7ec86f2f809863fe29c50dd9161a592c9bc7b21911c897b42989f051dd728282e6d45468267649efc8413bfd1742e327c5be1e52faaf5a8ae06
-- body blobs/c/f29ce9e02f0b7c34e776129f9909479a21623708d81914a4cb1c930984852f2.zst 28b52ffd605f024d0e00e65d5a25208de8016085f2b1a96c696891912d27f51ef449d47c8e19f8cbffe26f3575490d1004b80b4f00500052005bcd49d7aa3aae53bfd5a46fabeb192d0966fc137f5e70d3ed384de4dc45fe1034207fa001c89b99986009bb62c654934d1f5c61dcdf8e17dc0cd40f87719e6b9c861ede9c277a8d1131638a47b812522a289012c55a2e8146eb328f3061fddb591252a2daf7c34a08f183552814ccb8bef4ea82d066c60e4e0b664c5eaf493d058171623176e38542dfe9561e69865d6a44c2b89219ebcab9efcd8db4d347111bb09364c63a213816140c12a4c4feb2fe72901263ddcdb6d443c93a7f38f19df4a19904ea7ef5a758ccd8558d2b4dc32025563dc2b710092533c6f9d62db57a6b17c4c7ab3a75d2f1120248e97bc6171013bc78bdda5aea1039e3f632cbbfee4fbc61971a23fcba74be752a6297ea15fc75a7d42f85bed3a73da679044f14b98737bca3c81fe8611ace6b6d6b9b5d388fb0df32a44427a58ebfa657302420602232456807ba4409a51101bd1aa1e28d4992c9070dd2a1265e0e586e100b6956c027c2c2eb4d0c83ac8a2cbf0f033ff22c60da18417b27ce0c531640ea94c82120f4c62a323aee107dcd6129cc978a096f5649ed39c4f5848102
-- body blobs/d/a4a6e07425c7a8284e26c69cff02afe7a9f26000e7941cf92665e065de48244.zst 28b52ffd604805ed1800d6369a22306df3432da6651cf6c96b86a2268b6c1ea97fec4d18a8aeaa168b31c13d94141483950090008f0092c6231147220a07b2b7f9c8a4e171b440e9f14c9cf838e431611ce722079af5c1302ed102ade9cbfb2bb938ebe44a6c0565eb97cad2caa704d7821588310189e03b717836d5801993993810cbb772e390cbff381166ca62286caf752437ff4ca642242f7e1ccaf71d64bd3cc1d488531e400e7425fea205922cba85cdc7d2fa5e3cbe768fb55eb2b54e8925ead091034dbc03a2082d5b4ced647a29be2720f97178c178a4ca276086fd48bdfcfffc9cceb6f26d268eb475f2e5d9382fec7587a1fc8f333bde4e5cf24314287b52b53813a3add57ab0bf4dd77a498acdc5dc7ca63ae5d4300404704a8cb6f83e6fad733f080a100e060c1a86c43f1dc9b74a1424a7c88773c19794a69f5e2f2fb55673291da74b4ed357a00909c3beac8fe4d1b07ceddf89c95f6c37e9229f64f3af4fc984ad47308b8f2e3817fdb9ac6eeeafe5afd6303da5954a6fbed3dbd4886fd00221076a68ea73ed63320e5a34e4631b8d7f9c6b7b324e4312b90de44090eb92c73395b2989c93cdbd92ee1d5982cd566bfdae7dcfa4982f70cde62d5b86a9f7a3d3f0e29f87444c3c0ff1fc0d7f9b3a7f56f9937f2142aab0b7a4027de9b828b1ff530b158831ff02d86bff3263861960c6cbea4034d5b91c711e2a510da68ab331ea3f65bb92b15d83e9f5fae529d1b997264d51a9862c7927f55136fd8f6ebe861812100347fca1f9d648a4c129063d2e6aa11f9b25085b79abb593cbdbbd534ec665936228dc549e12664d7ef3271f6c29766b0fdbe76bad9a325b6990bdf668534a52daabb7b8069b42fada0541a88128a40c4144c88c42c1484d98d03570a29991bb1b12e01315c9505c6d940926dec95aac9f017e35bcb1e3191e551ab2c5e724062655f22630280f216f5c71a6919de1b54dfb5944ba4568d1a3daaccffd6577b36996fcfec14a0bcac73e26f07d048958b2834f95fddc4fc21960d94a2c0017b5fb30c53b20f04156cf58518031326188f4578d1550fa217c58db1477274798162fbb469924d20169cb208c3f3f10714203d1b798776d4198be055003
-- body blobs/f/fca88c9b6602ab83fe2b4ac1adce011817c5db40d113616c9090b1a329febbe.zst 28b52ffd60b602ad0f0036a36521504bf4a31351ce1a84c0f5813e3149a9363154fcdcb566973469190529466626f45c005f005b008a8a4d82e3b4ab84fac56c810c3989bcce47af1fd02d7fb296d9638d2431422916b25974a569d6f4de343c4fd333a97c9a9e5153349d851f508aaa0f5f5542bd1717e7bc120469db8df026ffdc7e74c9bac6098c8d95a2a25750100149a97432aabf94d393c2a0542238c7d2c7e9a9360f04306966a4e3021db20cb3927590dd26eb913d986704ba15a1687dbad27f9253bdf1954634ad8d1a62480c4a65371ad31584a26895df80164fab845a094fa1c9a88c45e32440ce9c550569319d1475233d4fa1183972a6283b251ca64c8c36074911ff6968d31884ee98219031fbd8f3bae5b97deed93a2ff7d60e103df59f54901ca7190649e194f9fac88c9ffb3ee66461276e9783c15d71698691169f42cc3f49ce4620114ac1366a8821c999a8841e25fec08a1dffc5f816d2f693d7fb7171bbac852d3fb840f6ab31dc9abb1fadb5db63f9b20747b70c11660fb83866399a6dd4104340731edf63ecc70dd7c1d77b40c66d64deaf3fc30599279b2320604211b3f858a32393b8bc76ff98db25c4e783cf0a0f40f1d2e2c1b0b19a08858a56c3e1f63e0cbc09f20ab33cc0643e28e082eb25ba71025bdc39f22718f691a0edf7313e27b9213b0bce2cbbf7a80c422c3d7bb2a603891005
insert into sessions values ('20261112-182231-98951b91', 'claude', '11b9e70a-3801-5df6-a224-779adfb0ac9e', 'claude', 'A family ticket for 3 children costs 0.30000000000000004 more than it should. Find out why.', 'completed', '/tmp/old-store/harbour', '/tmp/old-store/harbour', 'main', NULL, NULL, NULL, 'claude-sonnet-4-5', 1794507751000000, 1794509071000000, 1794509071000000, NULL, NULL, '');
insert into sessions values ('20261116-182231-b4572ae5', 'claude', '07978037-81dc-59a3-8b1a-9145adbd49be', 'claude', 'Deploy the sensor service to staging.', 'completed', '/tmp/old-store/lighthouse', '/tmp/old-store/lighthouse', 'main', NULL, NULL, NULL, 'claude-sonnet-4-5', 1794853351000000, 1794854191000000, 1794854191000000, NULL, NULL, '');
insert into sessions values ('20261114-182231-148a3158', 'codex', 'a8a5def0-133c-5f12-a9fa-6020347b13ae', 'codex', 'Add refunds: a ticket that is given back within a day is paid back less a fee of 10 percent.', 'completed', '/tmp/old-store/harbour', '/tmp/old-store/harbour', 'main', NULL, NULL, NULL, 'gpt-5-codex', 1794680551000000, 1794683311000000, 1794683311000000, NULL, NULL, '');
insert into sessions values ('20261117-182231-f95be19f', 'codex', 'd504aa03-6187-5880-a114-1a6fae2a8b44', 'codex', 'Uploads from the lamp room break off on slow links. Make them retry.', 'completed', '/tmp/old-store/lighthouse', '/tmp/old-store/lighthouse', 'main', NULL, NULL, NULL, 'gpt-5-codex', 1794939751000000, 1794940831000000, 1794940831000000, NULL, NULL, '');
insert into sessions values ('20261118-182235-f08bc78d', 'claude', 'demo-one', 'claude', 'Put the prices of season tickets into src/prices.py', 'active', '/tmp/old-store/harbour', '/tmp/old-store/harbour', NULL, 'laptop', NULL, NULL, NULL, 1795026155345684, 1795026155709492, NULL, NULL, NULL, '');
insert into sessions values ('20261118-182236-2ea63b99', 'codex', 'demo-two', 'codex', 'Round the refund fee for season tickets: are integer cents right for money here?', 'active', '/tmp/old-store/harbour', '/tmp/old-store/harbour', NULL, 'laptop', NULL, NULL, NULL, 1795026156365037, 1795026156747577, NULL, NULL, NULL, '');
insert into sessions values ('20261118-182239-8346f885', 'agent', NULL, 'agent', 'prepare the summer release', 'completed', '/tmp/old-store/harbour', '/tmp/old-store/harbour', NULL, 'laptop', NULL, NULL, NULL, 1795026159332343, 1795026163564427, 1795026163564427, 'release 3 is ready, only publishing is left', NULL, '');
insert into sessions values ('notes', 'chat', NULL, 'chat', '', 'completed', '', NULL, NULL, NULL, NULL, NULL, NULL, 1795026162372698, 1795026162372698, 1795026162372698, NULL, NULL, '');
insert into session_logs values (1, '20261118-182239-8346f885', 1795026160166751, 'the changelog is written', NULL);
insert into locks values (1, '20261118-182235-f08bc78d', 'file', '/tmp/old-store/harbour/src/prices.py', '/tmp/old-store/harbour/src/prices.py', '/tmp/old-store/harbour/src/prices.py', 'exclusive', '/tmp/old-store/harbour', 'editing it', 1795026156241217, 600000000, 1795026756241217, 1);
insert into tokens values ('locks', 'machine/boot/namespace', 1, 4097);
insert into boots values ('machine/boot/namespace', 1794985046734080);
insert into messages values (1, '20261118-182239-8346f885', NULL, '/tmp/old-store/harbour', 'note', 'publish the release on Monday', 1795026160937756, NULL);
insert into documents values ('world', '', 1, '# Harbour
Release 3 is frozen until Monday.', NULL, '20261118-182239-8346f885', 1795026161650952);
insert into documents values ('gist', 'notes', 1, 'Asked:
- user: The tills send integer cents. (#16)', '{"at":1795026162372698,"count":1,"first":16,"first_at":1795026162372698,"hash":"61da975e3797be02ce459c73","last":16,"last_at":1795026162372698,"origins":["user"],"project":"","session":"notes","trust":"user"}', 'extract/1', 1795026164495529);
insert into documents values ('extract', 'notes', 1, '{"lines":[["asked","The tills send integer cents.",16,"user",1795026162372698]],"statements":[]}', NULL, 'extract/1', 1795026164496472);
insert into documents values ('gist', '20261117-182231-f95be19f', 1, 'Asked:
- user: Uploads from the lamp room break off on slow links. (#14)
Said:
- user: Make them retry. (#14)
- assistant: Uploads retry three times. (#15)
Open:
- assistant: The test for slow links still fails. (#15)
- assistant: Next step: a longer pause. (#15)', '{"at":1794940831000000,"count":2,"first":14,"first_at":1794939991000000,"hash":"54e2296237ecc26d0f9002f0","last":15,"last_at":1794940831000000,"origins":["assistant","user"],"project":"/tmp/old-store/lighthouse","session":"20261117-182231-f95be19f","trust":"assistant"}', 'extract/1', 1795026164519292);
insert into documents values ('extract', '20261117-182231-f95be19f', 1, '{"lines":[["asked","Uploads from the lamp room break off on slow links.",14,"user",1794939991000000],["said","Make them retry.",14,"user",1794939991000000],["said","Uploads retry three times.",15,"assistant",1794940831000000],["open","The test for slow links still fails.",15,"assistant",1794940831000000],["open","Next step: a longer pause.",15,"assistant",1794940831000000]],"statements":[]}', NULL, 'extract/1', 1795026164519388);
insert into documents values ('gist', '20261114-182231-148a3158', 1, 'Asked:
- user: Add refunds: a ticket that is given back within a day is paid back less a fee of 10 percent. (#9)
Said:
- assistant: Refunds are in: refund(price) returns price * 0.9 as a float. (#10)
- user: No, that is wrong: never floats for money. (#11)
Done:
- assistant: 3 tests pass. (#12)
Wished:
- user: Use integer cents, and round the fee up. (#11)', '{"at":1794683311000000,"count":5,"first":9,"first_at":1794680791000000,"hash":"a5fcd8dc586c495d8b05ab53","last":13,"last_at":1794683311000000,"origins":["assistant","user"],"project":"/tmp/old-store/harbour","session":"20261114-182231-148a3158","trust":"assistant"}', 'extract/1', 1795026164526926);
insert into documents values ('extract', '20261114-182231-148a3158', 1, '{"lines":[["asked","Add refunds: a ticket that is given back within a day is paid back less a fee of 10 percent.",9,"user",1794680791000000],["said","Refunds are in: refund(price) returns price * 0.9 as a float.",10,"assistant",1794681271000000],["said","No, that is wrong: never floats for money.",11,"user",1794681511000000],["wished","Use integer cents, and round the fee up.",11,"user",1794681511000000],["done","3 tests pass.",12,"assistant",1794683071000000]],"statements":[["wished","Use integer cents, and round the fee up.",11,"user",1794681511000000]]}', NULL, 'extract/1', 1795026164527017);
insert into documents values ('gist', '20261116-182231-b4572ae5', 1, 'Asked:
- user: Deploy the sensor service to staging. (#5)
Said:
- assistant: quay-1 refuses the connection. (#6)
- assistant: Shall I retry? (#6)
- user: quay-1 is retired. (#7)
- user: The staging host is quay-2 now, and only the deploy user may log in. (#7)
Done:
- assistant: Deployed: the sensor service runs on quay-2. (#8)', '{"at":1794854191000000,"count":4,"first":5,"first_at":1794853351000000,"hash":"01fef73393e41d9c0d451783","last":8,"last_at":1794854191000000,"origins":["assistant","user"],"project":"/tmp/old-store/lighthouse","session":"20261116-182231-b4572ae5","trust":"assistant"}', 'extract/1', 1795026164548286);
insert into documents values ('extract', '20261116-182231-b4572ae5', 1, '{"lines":[["asked","Deploy the sensor service to staging.",5,"user",1794853351000000],["said","quay-1 refuses the connection.",6,"assistant",1794853711000000],["said","Shall I retry?",6,"assistant",1794853711000000],["said","quay-1 is retired.",7,"user",1794853831000000],["said","The staging host is quay-2 now, and only the deploy user may log in.",7,"user",1794853831000000],["done","Deployed: the sensor service runs on quay-2.",8,"assistant",1794854191000000]],"statements":[]}', NULL, 'extract/1', 1795026164548381);
insert into documents values ('gist', '20261112-182231-98951b91', 1, 'Asked:
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
Names: Decimal', '{"at":1794509071000000,"count":4,"first":1,"first_at":1794507751000000,"hash":"f5e002d6fd3cb0b4bd980d04","last":4,"last_at":1794509071000000,"origins":["assistant","user"],"project":"/tmp/old-store/harbour","session":"20261112-182231-98951b91","trust":"assistant"}', 'extract/1', 1795026164555783);
insert into documents values ('extract', '20261112-182231-98951b91', 1, '{"lines":[["asked","A family ticket for 3 children costs 0.30000000000000004 more than it should.",1,"user",1794507751000000],["said","Find out why.",1,"user",1794507751000000],["said","The cause: prices are floats, and the child discount is added three times.",2,"assistant",1794508111000000],["said","Decimal, or cents?",2,"assistant",1794508111000000],["decided","We decided: prices are integer cents everywhere, no Decimal, because the tills send cents.",3,"user",1794508231000000],["done","Fixed: prices are integer cents from the till to the invoice.",4,"assistant",1794509071000000],["done","All 4 tests pass; committed.",4,"assistant",1794509071000000],["name","Decimal",3,"user",1794508231000000]],"statements":[]}', NULL, 'extract/1', 1795026164555877);
insert into documents values ('era', '2026-11', 1, '2026-11: 5 sessions in lighthouse (2), harbour (2).
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
- assistant: Next step: a longer pause. (#15)', '{"asked":false,"at":1795026162372698,"hash":"b2fca2bf8fc9ee2149850fad","session_count":5,"sessions":["20261112-182231-98951b91","20261114-182231-148a3158","20261116-182231-b4572ae5","20261117-182231-f95be19f","notes"],"trust":"assistant"}', 'extract/1', 1795026165311813);
insert into documents values ('standing', '2026-11', 1, '{"statements":[["wished","Use integer cents, and round the fee up.",11,"user",1794681511000000,"20261114-182231-148a3158",[11],["20261114-182231-148a3158"]]]}', '{"hash":"cbb74b948d219d9323f91e34","sessions":["20261114-182231-148a3158"]}', 'extract/1', 1795026165330774);
insert into documents values ('narrative', 'current', 1, 'Sessions by month: 2026-11: 5 (harbour 2, lighthouse 2).
Last sessions, newest first:
- 2026-11-18: user: The tills send integer cents. (#16)
- 2026-11-17 lighthouse: user: Uploads from the lamp room break off on slow links. (#14)
- 2026-11-16 lighthouse: user: Deploy the sensor service to staging. (#5)
- 2026-11-14 harbour: user: Add refunds: a ticket that is given back within a day is paid back less a fee of 10 percent. (#9)
- 2026-11-12 harbour: user: A family ticket for 3 children costs 0.30000000000000004 more than it should. (#1)
Open:
- assistant: The test for slow links still fails. (#15)
- assistant: Next step: a longer pause. (#15)', '{"asked":false,"at":1795026162372698,"hash":"e00d74131720b2d7f25c61af","sessions":["20261112-182231-98951b91","20261114-182231-148a3158","20261116-182231-b4572ae5","20261117-182231-f95be19f","notes"],"trust":"assistant"}', 'extract/1', 1795026165331504);
insert into activity values (1, 1795026156528080, 'refused', '20261118-182236-2ea63b99', '/tmp/old-store/harbour', '/tmp/old-store/harbour/src/prices.py', '{"holder": "20261118-182235-f08bc78d", "token": 1}');
insert into captures values (1, '20261112-182231-98951b91', NULL, NULL, NULL, '2.1.325', NULL, 1794507751000000, 1794509071000000, 12, 6329, 1, -9023131062980453696, 0, 1);
insert into captures values (2, '20261116-182231-b4572ae5', NULL, NULL, NULL, '2.1.325', NULL, 1794853351000000, 1794854191000000, 8, 4071, 1, -8041489685253042272, 0, 1);
insert into captures values (3, '20261114-182231-148a3158', NULL, NULL, NULL, '0.166.0', 'codex_cli', 1794680551000000, 1794683311000000, 16, 6728, 1, -7381271501382735116, 0, 1);
insert into captures values (4, '20261117-182231-f95be19f', NULL, NULL, NULL, '0.166.0', 'codex_cli', 1794939751000000, 1794940831000000, 7, 3083, 1, 3930130611205569306, 0, 1);
insert into cursors values ('', '/tmp/old-store/.claude/projects/-tmp-old-store-harbour/11b9e70a-3801-5df6-a224-779adfb0ac9e.jsonl', 'claude', 1, 6329, '{"session":"11b9e70a-3801-5df6-a224-779adfb0ac9e","seen":["11b9e70a-3801-5df6-a224-779adfb0ac9e","/tmp/old-store/harbour","main","2.1.325","claude-sonnet-4-5",null,null],"told":{"of":"11b9e70a-3801-5df6-a224-779adfb0ac9e","cwd":"/tmp/old-store/harbour","branch":"main","version":"2.1.325","parent":null,"model":"claude-sonnet-4-5"},"counted":["11b9e70a-3801-5df6-a224-779adfb0ac9e","msg_toolu_harbour_7",null,350]}', 6329, 1795026151067284, 2932661, '45f960596e4419ff', 'c523a70fdf9bce6f', 0, NULL, 1795026152553942, NULL, NULL, '1');
insert into cursors values ('', '/tmp/old-store/.claude/projects/-tmp-old-store-lighthouse/07978037-81dc-59a3-8b1a-9145adbd49be.jsonl', 'claude', 2, 4071, '{"session":"07978037-81dc-59a3-8b1a-9145adbd49be","seen":["07978037-81dc-59a3-8b1a-9145adbd49be","/tmp/old-store/lighthouse","main","2.1.325","claude-sonnet-4-5",null,null],"told":{"of":"07978037-81dc-59a3-8b1a-9145adbd49be","cwd":"/tmp/old-store/lighthouse","branch":"main","version":"2.1.325","parent":null,"model":"claude-sonnet-4-5"},"counted":["07978037-81dc-59a3-8b1a-9145adbd49be","msg_toolu_lighthouse_5",null,350]}', 4071, 1795026151095404, 2926365, '0bc909e43a40ba7b', '43709823bca484c4', 0, NULL, 1795026152600778, NULL, NULL, '1');
insert into cursors values ('', '/tmp/old-store/.codex/sessions/2026/11/14/rollout-2026-11-14T18-22-31-a8a5def0-133c-5f12-a9fa-6020347b13ae.jsonl', 'codex', 3, 6728, '{"thread":"a8a5def0-133c-5f12-a9fa-6020347b13ae","meta":true,"turn":null,"model":"gpt-5-codex","cwd":"/tmp/old-store/harbour","total":74700}', 6728, 1795026151091513, 2931470, 'dc094dbf1daf57b7', '193f543aa9632da0', 0, NULL, 1795026152627395, NULL, NULL, '1');
insert into cursors values ('', '/tmp/old-store/.codex/sessions/2026/11/17/rollout-2026-11-17T18-22-31-d504aa03-6187-5880-a114-1a6fae2a8b44.jsonl', 'codex', 4, 3083, '{"thread":"d504aa03-6187-5880-a114-1a6fae2a8b44","meta":true,"turn":null,"model":"gpt-5-codex","cwd":"/tmp/old-store/lighthouse","total":33200}', 3083, 1795026151095635, 2924547, '78d68d407dc3d796', 'f387fd31123a4535', 0, NULL, 1795026152661232, NULL, NULL, '1');
insert into digests values (1, 1, 1, 1795026152683827, 1, '{"goal":"A family ticket for 3 children costs 0.30000000000000004 more than it should. Find out why.","then":["We decided: prices are integer cents everywhere, no Decimal, because the tills send cents."],"evidence":["the last tests passed","1 commits kept","the agent says it is done"],"changed":["src/prices.py"],"errors":["FAILED test_family - assert 35.10000000000001 == 35.1 [pytest tests/test_prices.py] → changed prices.py"],"tests":{"runs":2,"failed":1,"last":true},"commits":["commit"],"commands":{"run":3,"failed":1},"notable":["pytest tests/test_prices.py → 1","pytest tests/test_prices.py → 0","git commit -qam \"Prices are integer cents\" → 0"],"ended":"Fixed: prices are integer cents from the till to the invoice. All 4 tests pass; committed.","prompts":2,"minutes":22,"span_minutes":22}', '{"goal":"A family ticket for 3 children costs 0.30000000000000004 more than it should. Find out why.","prompt":"","said":"We decided: prices are integer cents everywhere, no Decimal, because the tills send cents.","ended":"Fixed: prices are integer cents from the till to the invoice. All 4 tests pass; committed.","last":"assistant","turn":2,"acts":4,"from":1794507751000000,"until":1794509071000000,"active":1320000000,"read":{},"changed":{"/tmp/old-store/harbour/src/prices.py":1},"tools":{"Bash":3,"Edit":1},"todo":[],"waiting":{},"commands":3,"failed":1,"notable":[["pytest tests/test_prices.py",1],["pytest tests/test_prices.py",0],["git commit -qam \"Prices are integer cents\"",0]],"errors":[{"known":"failed test_family - assert n.n == n.n","line":"FAILED test_family - assert 35.10000000000001 == 35.1","about":"pytest tests/test_prices.py","times":1,"open":false,"fix":"changed prices.py","turn":1,"since":["changed prices.py"]}],"tests":{"runs":2,"failed":1,"last":true},"last_build":null,"commits":["commit"],"dropped":0,"objected":null,"requests":["We decided: prices are integer cents everywhere, no Decimal, because the tills send cents."],"reverted":0,"pushed":0,"corrections":0,"objections":[],"interrupts":0,"denials":0,"compactions":0,"api_errors":0,"verdicts":{},"cwd":"/tmp/old-store/harbour"}', 'success', 0.76, NULL, NULL, NULL);
insert into digests values (2, 2, 1, 1795026152684880, 1, '{"goal":"Deploy the sensor service to staging.","then":["quay-1 is retired. The staging host is quay-2 now, and only the deploy user may log in."],"evidence":["answered after looking","1 errors not mended at the end"],"errors":["ssh: connect to host quay-1: Connection refused [ssh quay-1 systemctl restart]"],"commands":{"run":2,"failed":1},"notable":["ssh quay-1 systemctl restart sensors → 255"],"ended":"Deployed: the sensor service runs on quay-2.","prompts":2,"minutes":14,"span_minutes":14}', '{"goal":"Deploy the sensor service to staging.","prompt":"","said":"quay-1 is retired. The staging host is quay-2 now, and only the deploy user may log in.","ended":"Deployed: the sensor service runs on quay-2.","last":"assistant","turn":2,"acts":2,"from":1794853351000000,"until":1794854191000000,"active":840000000,"read":{},"changed":{},"tools":{"Bash":2},"todo":[],"waiting":{},"commands":2,"failed":1,"notable":[["ssh quay-1 systemctl restart sensors",255]],"errors":[{"known":"ssh: connect to host quay-n: connection refused","line":"ssh: connect to host quay-1: Connection refused","about":"ssh quay-1 systemctl restart","times":1,"open":true,"fix":"","turn":1,"since":[]}],"tests":{"runs":0,"failed":0,"last":null},"last_build":null,"commits":[],"dropped":0,"objected":null,"requests":["quay-1 is retired. The staging host is quay-2 now, and only the deploy user may log in."],"reverted":0,"pushed":0,"corrections":0,"objections":[],"interrupts":0,"denials":0,"compactions":0,"api_errors":0,"verdicts":{},"cwd":"/tmp/old-store/lighthouse"}', 'unclear', 0.3, NULL, NULL, NULL);
insert into digests values (3, 3, 1, 1795026152685483, 1, '{"goal":"Add refunds: a ticket that is given back within a day is paid back less a fee of 10 percent.","then":["Thanks, perfect."],"evidence":["the last tests passed","the user''s last words approve"],"changed":["src/refunds.py"],"errors":["FAILED test_fee_is_rounded_up - assert 899 == 900 [pytest tests/test_refunds.py] → changed refunds.py"],"tests":{"runs":2,"failed":1,"last":true},"corrections":["No, that is wrong: never floats for money. Use integer cents, and round the fee up."],"commands":{"run":2,"failed":1},"notable":["pytest tests/test_refunds.py → 1","pytest tests/test_refunds.py → 0"],"open":["Thanks, perfect."],"ended":"Done: refunds work in integer cents, the fee is rounded up. 3 tests pass.","prompts":3,"minutes":46,"span_minutes":46}', '{"goal":"Add refunds: a ticket that is given back within a day is paid back less a fee of 10 percent.","prompt":"","said":"Thanks, perfect.","ended":"Done: refunds work in integer cents, the fee is rounded up. 3 tests pass.","last":"user","turn":3,"acts":5,"from":1794680551000000,"until":1794683311000000,"active":2760000000,"read":{},"changed":{"src/refunds.py":3},"tools":{"apply_patch":3,"exec_command":2},"todo":[],"waiting":{},"commands":2,"failed":1,"notable":[["pytest tests/test_refunds.py",1],["pytest tests/test_refunds.py",0]],"errors":[{"known":"failed test_fee_is_rounded_up - assert n == n","line":"FAILED test_fee_is_rounded_up - assert 899 == 900","about":"pytest tests/test_refunds.py","times":1,"open":false,"fix":"changed refunds.py","turn":2,"since":["changed refunds.py"]}],"tests":{"runs":2,"failed":1,"last":true},"last_build":null,"commits":[],"dropped":0,"objected":[0,0,0],"requests":["Thanks, perfect."],"reverted":0,"pushed":0,"corrections":1,"objections":["No, that is wrong: never floats for money. Use integer cents, and round the fee up."],"interrupts":0,"denials":0,"compactions":0,"api_errors":0,"verdicts":{},"cwd":"/tmp/old-store/harbour"}', 'success', 0.7, NULL, NULL, NULL);
insert into digests values (4, 4, 1, 1795026152685976, 1, '{"goal":"Uploads from the lamp room break off on slow links. Make them retry.","evidence":["the last tests failed","the agent says it could not do it","1 errors not mended at the end"],"changed":["src/upload.py"],"errors":["FAILED test_slow_link - TimeoutError [pytest tests/test_upload.py]"],"tests":{"runs":1,"failed":1,"last":false},"commands":{"run":1,"failed":1},"notable":["pytest tests/test_upload.py → 1"],"ended":"Uploads retry three times. The test for slow links still fails. Next step: a longer pause.","prompts":1,"minutes":18,"span_minutes":18}', '{"goal":"Uploads from the lamp room break off on slow links. Make them retry.","prompt":"","said":"Uploads from the lamp room break off on slow links. Make them retry.","ended":"Uploads retry three times. The test for slow links still fails. Next step: a longer pause.","last":"assistant","turn":1,"acts":2,"from":1794939751000000,"until":1794940831000000,"active":1080000000,"read":{},"changed":{"src/upload.py":1},"tools":{"apply_patch":1,"exec_command":1},"todo":[],"waiting":{},"commands":1,"failed":1,"notable":[["pytest tests/test_upload.py",1]],"errors":[{"known":"failed test_slow_link - timeouterror","line":"FAILED test_slow_link - TimeoutError","about":"pytest tests/test_upload.py","times":1,"open":true,"fix":"","turn":1,"since":[]}],"tests":{"runs":1,"failed":1,"last":false},"last_build":null,"commits":[],"dropped":0,"objected":null,"requests":[],"reverted":0,"pushed":0,"corrections":0,"objections":[],"interrupts":0,"denials":0,"compactions":0,"api_errors":0,"verdicts":{},"cwd":"/tmp/old-store/lighthouse"}', 'failure', 0.72, NULL, NULL, NULL);
insert into blobs values (1, 'da4a6e07425c7a8284e26c69cff02afe7a9f26000e7941cf92665e065de48244', 1, 1, 1608, 807, 1795026152681918, NULL, NULL, NULL, NULL, 0);
insert into blobs values (2, 'ffca88c9b6602ab83fe2b4ac1adce011817c5db40d113616c9090b1a329febbe', 2, 1, 950, 511, 1795026152684608, NULL, NULL, NULL, NULL, 0);
insert into blobs values (3, '65c277853fb2a069fd246ed86ad008d79ea086e50f617011bc97f68ba3117ba6', 3, 1, 1906, 695, 1795026152685238, NULL, NULL, NULL, NULL, 0);
insert into blobs values (4, 'cf29ce9e02f0b7c34e776129f9909479a21623708d81914a4cb1c930984852f2', 4, 1, 863, 467, 1795026152685845, NULL, NULL, NULL, NULL, 0);
insert into events values (1, 1, -9023131062980453696, 8638124775785237411, 17592186044416, 1794507751000000, 'message', 'user', NULL, NULL, NULL, NULL, NULL, 1, 0, 147);
insert into events values (2, 1, 7059284255368207351, -4042668258072841584, 17592186144256, 1794507871000000, 'call', 'assistant', 'Bash', NULL, NULL, 3260124917728059900, -9023131062980453696, 1, 147, 128);
insert into events values (3, 1, 4180173509321633812, -6170303413403418780, 17592186298880, 1794507991000000, 'result', 'tool', NULL, 'error', 1, 3260124917728059900, 7059284255368207351, 1, 275, 160);
insert into events values (4, 1, 2638798221229058685, 5636504703126319323, 17592186426624, 1794508111000000, 'message', 'assistant', NULL, NULL, NULL, NULL, 4180173509321633812, 1, 435, 149);
insert into events values (5, 1, -1121917503607914769, -3986848622772226703, 17592186583040, 1794508231000000, 'message', 'user', NULL, NULL, NULL, NULL, 2638798221229058685, 1, 584, 146);
insert into events values (6, 1, -9065467200109350875, 5152122428490493802, 17592186691328, 1794508351000000, 'call', 'assistant', 'Edit', NULL, NULL, 720801216604451943, -1121917503607914769, 1, 730, 179);
insert into events values (7, 1, -8044917324361763412, 1818141873291833252, 17592186860032, 1794508471000000, 'result', 'tool', NULL, 'ok', NULL, 720801216604451943, -9065467200109350875, 1, 909, 105);
insert into events values (8, 1, 1088220151263488136, -990913779935257155, 17592186973952, 1794508591000000, 'call', 'assistant', 'Bash', NULL, NULL, 4043196300748107360, -8044917324361763412, 1, 1014, 128);
insert into events values (9, 1, 4584115820058647223, -2285355851578974604, 17592187128576, 1794508711000000, 'result', 'tool', NULL, 'ok', NULL, 4043196300748107360, 1088220151263488136, 1, 1142, 101);
insert into events values (10, 1, -379373374648352341, 7846341491735760692, 17592187241472, 1794508831000000, 'call', 'assistant', 'Bash', NULL, NULL, -2327139646238656702, 4584115820058647223, 1, 1243, 145);
insert into events values (11, 1, 8126415703722614227, -7386420564710800588, 17592187400448, 1794508951000000, 'result', 'tool', NULL, 'ok', NULL, -2327139646238656702, -379373374648352341, 1, 1388, 74);
insert into events values (12, 1, -5652389047440992965, 4275619145269045984, 17592187508992, 1794509071000000, 'message', 'assistant', NULL, NULL, NULL, NULL, 8126415703722614227, 1, 1462, 146);
insert into events values (13, 2, -8041489685253042272, -2236409330480171455, 35184372088832, 1794853351000000, 'message', 'user', NULL, NULL, NULL, NULL, NULL, 2, 0, 93);
insert into events values (14, 2, 2574900863758849343, 6172130937021665316, 35184372175616, 1794853471000000, 'call', 'assistant', 'Bash', NULL, NULL, -1555462357993723551, -8041489685253042272, 2, 93, 140);
insert into events values (15, 2, 2167669057326597096, -2521764308218743380, 35184372334848, 1794853591000000, 'result', 'tool', NULL, 'error', 255, -1555462357993723551, 2574900863758849343, 2, 233, 149);
insert into events values (16, 2, -3407777800781902640, 4183141287686795942, 35184372460544, 1794853711000000, 'message', 'assistant', NULL, NULL, NULL, NULL, 2167669057326597096, 2, 382, 101);
insert into events values (17, 2, 1767467745011224570, -5119113725213911518, 35184372606208, 1794853831000000, 'message', 'user', NULL, NULL, NULL, NULL, -3407777800781902640, 2, 483, 143);
insert into events values (18, 2, 2687238372668778428, -3718954009929200484, 35184372714496, 1794853951000000, 'call', 'assistant', 'Bash', NULL, NULL, 6549720842337871742, 1767467745011224570, 2, 626, 147);
insert into events values (19, 2, -3959337368009589883, -3615001563659010106, 35184372875520, 1794854071000000, 'result', 'tool', NULL, 'ok', NULL, 6549720842337871742, 2687238372668778428, 2, 773, 77);
insert into events values (20, 2, 4821063338507185016, 5393463715979036770, 35184372985600, 1794854191000000, 'message', 'assistant', NULL, NULL, NULL, NULL, -3959337368009589883, 2, 850, 100);
insert into events values (21, 3, -6567515794926156884, -8252792715843486642, 52776558133248, 1794680551000000, 'lifecycle', 'system', 'session_meta', NULL, NULL, NULL, NULL, 3, 0, 59);
insert into events values (22, 3, -7381271501382735116, 139609164940935924, 52776558239488, 1794680791000000, 'message', 'user', NULL, NULL, NULL, NULL, NULL, 3, 59, 136);
insert into events values (23, 3, -4640078798245760883, -315122761705384423, 52776558305024, 1794680911000000, 'call', 'assistant', 'apply_patch', NULL, NULL, -6359695508688079766, NULL, 3, 195, 154);
insert into events values (24, 3, 4633486362566554649, 5087396588285371742, 52776558370560, 1794681031000000, 'result', 'tool', NULL, 'ok', NULL, -6359695508688079766, NULL, 3, 349, 112);
insert into events values (25, 3, -5367378687706753143, -7080415854720280904, 52776558527488, 1794681271000000, 'message', 'assistant', NULL, NULL, NULL, NULL, NULL, 3, 461, 105);
insert into events values (26, 3, 3619129522415839506, 427310550012468688, 52776558691840, 1794681511000000, 'message', 'user', NULL, NULL, NULL, NULL, NULL, 3, 566, 127);
insert into events values (27, 3, -4291272014323259956, 7949507890897800121, 52776558755072, 1794681631000000, 'call', 'assistant', 'apply_patch', NULL, NULL, 4530982929664015969, NULL, 3, 693, 154);
insert into events values (28, 3, -3605463935701678587, -3100305640535614545, 52776558820608, 1794681751000000, 'result', 'tool', NULL, 'ok', NULL, 4530982929664015969, NULL, 3, 847, 112);
insert into events values (29, 3, 8066069645455827709, -24833893742311889, 52776558977792, 1794681991000000, 'call', 'assistant', 'exec_command', NULL, NULL, -2327255981043170080, NULL, 3, 959, 107);
insert into events values (30, 3, 9079476507551868076, 100696301567076202, 52776559033600, 1794682111000000, 'result', 'tool', NULL, 'error', 1, -2327255981043170080, NULL, 3, 1066, 166);
insert into events values (31, 3, 8519021201371781030, -249554527507587130, 52776559203840, 1794682351000000, 'call', 'assistant', 'apply_patch', NULL, NULL, -5916556808763313887, NULL, 3, 1232, 154);
insert into events values (32, 3, -8324008553208312978, 2494342590741702557, 52776559269376, 1794682471000000, 'result', 'tool', NULL, 'ok', NULL, -5916556808763313887, NULL, 3, 1386, 112);
insert into events values (33, 3, 8228129686079698496, -2117742196391187574, 52776559426560, 1794682711000000, 'call', 'assistant', 'exec_command', NULL, NULL, -5829211030520699291, NULL, 3, 1498, 107);
insert into events values (34, 3, 4406396746228212382, -3514824796289728911, 52776559482368, 1794682831000000, 'result', 'tool', NULL, 'ok', 0, -5829211030520699291, NULL, 3, 1605, 124);
insert into events values (35, 3, -1041281332640690317, 8692165437070907366, 52776559641856, 1794683071000000, 'message', 'assistant', NULL, NULL, NULL, NULL, NULL, 3, 1729, 117);
insert into events values (36, 3, 651687445076650064, -7099155140479647908, 52776559809536, 1794683311000000, 'message', 'user', NULL, NULL, NULL, NULL, NULL, 3, 1846, 60);
insert into events values (37, 4, -8259558053739968596, 2003494707030013877, 70368744177664, 1794939751000000, 'lifecycle', 'system', 'session_meta', NULL, NULL, NULL, NULL, 4, 0, 59);
insert into events values (38, 4, 3930130611205569306, -3974077287443333563, 70368744285440, 1794939991000000, 'message', 'user', NULL, NULL, NULL, NULL, NULL, 4, 59, 112);
insert into events values (39, 4, 2644707822563984150, 1394879762581651694, 70368744344832, 1794940111000000, 'call', 'assistant', 'apply_patch', NULL, NULL, 1682243914558389492, NULL, 4, 171, 159);
insert into events values (40, 4, -8320675544858516001, 2968312161997140134, 70368744410880, 1794940231000000, 'result', 'tool', NULL, 'ok', NULL, 1682243914558389492, NULL, 4, 330, 118);
insert into events values (41, 4, 4814520991384387100, 2813733404983568963, 70368744568576, 1794940471000000, 'call', 'assistant', 'exec_command', NULL, NULL, -3755483041457891463, NULL, 4, 448, 112);
insert into events values (42, 4, 4351547637092157825, -7422724702486769447, 70368744624896, 1794940591000000, 'result', 'tool', NULL, 'error', 1, -3755483041457891463, NULL, 4, 560, 169);
insert into events values (43, 4, 8871278217513094743, 3517076240732133453, 70368744794880, 1794940831000000, 'message', 'assistant', NULL, NULL, NULL, NULL, NULL, 4, 729, 134);
insert into counters values ('files', 4);
insert into counters values ('kept bytes', 2480);
insert into counters values ('events', 43);
insert into counters values ('sweeps', 1);
insert into usage values (-9134372707595252962, 2, 1794853351000000, 'claude-sonnet-4-5', 1794853471000000, 900, 350, 21000, 0, 0, 0, NULL, 'floor', 1);
insert into usage values (-8898888168448882637, 3, 1794680551000000, 'gpt-5-codex', 1794682591000000, 2000, 300, 6000, 0, 0, 0, NULL, 'exact', 1);
insert into usage values (-6467216097945420139, 3, 1794680551000000, 'gpt-5-codex', 1794683191000000, 2000, 300, 6000, 0, 0, 0, NULL, 'exact', 1);
insert into usage values (-5526932224820205283, 1, 1794507751000000, 'claude-sonnet-4-5', 1794508591000000, 900, 350, 21000, 0, 0, 0, NULL, 'floor', 1);
insert into usage values (-5459527864022223283, 3, 1794680551000000, 'gpt-5-codex', 1794681391000000, 2000, 300, 6000, 0, 0, 0, NULL, 'exact', 1);
insert into usage values (-4936995530017169744, 1, 1794507751000000, 'claude-sonnet-4-5', 1794509071000000, 900, 350, 21000, 0, 0, 0, NULL, 'floor', 1);
insert into usage values (-3675339678957371304, 3, 1794680551000000, 'gpt-5-codex', 1794681151000000, 2000, 300, 6000, 0, 0, 0, NULL, 'exact', 1);
insert into usage values (-1798840505351949965, 3, 1794680551000000, 'gpt-5-codex', 1794682951000000, 2000, 300, 6000, 0, 0, 0, NULL, 'exact', 1);
insert into usage values (-1747309087820899071, 4, 1794939751000000, 'gpt-5-codex', 1794940711000000, 2000, 300, 6000, 0, 0, 0, NULL, 'exact', 1);
insert into usage values (-1295012732461130040, 1, 1794507751000000, 'claude-sonnet-4-5', 1794507871000000, 900, 350, 21000, 0, 0, 0, NULL, 'floor', 1);
insert into usage values (-276179328610500260, 4, 1794939751000000, 'gpt-5-codex', 1794940351000000, 2000, 300, 6000, 0, 0, 0, NULL, 'exact', 1);
insert into usage values (389564996698297554, 1, 1794507751000000, 'claude-sonnet-4-5', 1794508351000000, 900, 350, 21000, 0, 0, 0, NULL, 'floor', 1);
insert into usage values (461260585356057891, 3, 1794680551000000, 'gpt-5-codex', 1794682231000000, 2000, 300, 6000, 0, 0, 0, NULL, 'exact', 1);
insert into usage values (2636928404590136928, 3, 1794680551000000, 'gpt-5-codex', 1794681871000000, 2000, 300, 6000, 0, 0, 0, NULL, 'exact', 1);
insert into usage values (3052738829549870396, 1, 1794507751000000, 'claude-sonnet-4-5', 1794508111000000, 900, 350, 21000, 0, 0, 0, NULL, 'floor', 1);
insert into usage values (4211018755048992121, 4, 1794939751000000, 'gpt-5-codex', 1794940951000000, 2000, 300, 6000, 0, 0, 0, NULL, 'exact', 1);
insert into usage values (5327685977884847300, 2, 1794853351000000, 'claude-sonnet-4-5', 1794853711000000, 900, 350, 21000, 0, 0, 0, NULL, 'floor', 1);
insert into usage values (5541539443067467738, 2, 1794853351000000, 'claude-sonnet-4-5', 1794854191000000, 900, 350, 21000, 0, 0, 0, NULL, 'floor', 1);
insert into usage values (6740741478605884887, 2, 1794853351000000, 'claude-sonnet-4-5', 1794853951000000, 900, 350, 21000, 0, 0, 0, NULL, 'floor', 1);
insert into usage values (8137042532982669373, 1, 1794507751000000, 'claude-sonnet-4-5', 1794508831000000, 900, 350, 21000, 0, 0, 0, NULL, 'floor', 1);
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
insert into exchanges values (1, '20261112-182231-98951b91', 'user', 'A family ticket for 3 children costs 0.30000000000000004 more than it should. Find out why.', 1794507751000000, 1795026152683371, 'user', NULL, 1, 1);
insert into exchanges values (2, '20261112-182231-98951b91', 'assistant', 'The cause: prices are floats, and the child discount is added three times. Decimal, or cents?', 1794508111000000, 1795026152683371, 'assistant', NULL, 4, 1);
insert into exchanges values (3, '20261112-182231-98951b91', 'user', 'We decided: prices are integer cents everywhere, no Decimal, because the tills send cents.', 1794508231000000, 1795026152683371, 'user', NULL, 5, 1);
insert into exchanges values (4, '20261112-182231-98951b91', 'assistant', 'Fixed: prices are integer cents from the till to the invoice. All 4 tests pass; committed.', 1794509071000000, 1795026152683371, 'assistant', NULL, 12, 1);
insert into exchanges values (5, '20261116-182231-b4572ae5', 'user', 'Deploy the sensor service to staging.', 1794853351000000, 1795026152684706, 'user', NULL, 13, 1);
insert into exchanges values (6, '20261116-182231-b4572ae5', 'assistant', 'quay-1 refuses the connection. Shall I retry?', 1794853711000000, 1795026152684706, 'assistant', NULL, 16, 1);
insert into exchanges values (7, '20261116-182231-b4572ae5', 'user', 'quay-1 is retired. The staging host is quay-2 now, and only the deploy user may log in.', 1794853831000000, 1795026152684706, 'user', NULL, 17, 1);
insert into exchanges values (8, '20261116-182231-b4572ae5', 'assistant', 'Deployed: the sensor service runs on quay-2.', 1794854191000000, 1795026152684706, 'assistant', NULL, 20, 1);
insert into exchanges values (9, '20261114-182231-148a3158', 'user', 'Add refunds: a ticket that is given back within a day is paid back less a fee of 10 percent.', 1794680791000000, 1795026152685348, 'user', NULL, 22, 1);
insert into exchanges values (10, '20261114-182231-148a3158', 'assistant', 'Refunds are in: refund(price) returns price * 0.9 as a float.', 1794681271000000, 1795026152685348, 'assistant', NULL, 25, 1);
insert into exchanges values (11, '20261114-182231-148a3158', 'user', 'No, that is wrong: never floats for money. Use integer cents, and round the fee up.', 1794681511000000, 1795026152685348, 'user', NULL, 26, 1);
insert into exchanges values (12, '20261114-182231-148a3158', 'assistant', 'Done: refunds work in integer cents, the fee is rounded up. 3 tests pass.', 1794683071000000, 1795026152685348, 'assistant', NULL, 35, 1);
insert into exchanges values (13, '20261114-182231-148a3158', 'user', 'Thanks, perfect.', 1794683311000000, 1795026152685348, 'user', NULL, 36, 1);
insert into exchanges values (14, '20261117-182231-f95be19f', 'user', 'Uploads from the lamp room break off on slow links. Make them retry.', 1794939991000000, 1795026152685900, 'user', NULL, 38, 1);
insert into exchanges values (15, '20261117-182231-f95be19f', 'assistant', 'Uploads retry three times. The test for slow links still fails. Next step: a longer pause.', 1794940831000000, 1795026152685900, 'assistant', NULL, 43, 1);
insert into exchanges values (16, 'notes', 'user', 'The tills send integer cents.', 1795026162372698, 1795026162372715, 'user', NULL, NULL, 1);
delete from sqlite_sequence;
insert into sqlite_sequence values ('passages', 14);
insert into sqlite_sequence values ('unindexed', 30);
insert into sqlite_sequence values ('exchanges', 16);
insert into sqlite_sequence values ('segments', 2);
insert into sqlite_sequence values ('spaces', 2);
insert into sqlite_sequence values ('vectors', 2);
insert into passages values (1, 'digest', '20261112-182231-98951b91', 0, '20261112-182231-98951b91', '/tmp/old-store/harbour', 1794509071000000, 'Goal: A family ticket for 3 children costs 0.30000000000000004 more than it should. Find out why.
Outcome: success
Then: We decided: prices are integer cents everywhere, no Decimal, because the tills send cents.
Changed: src/prices.py
Errors: FAILED test_family - assert 35.10000000000001 == 35.1 [pytest tests/test_prices.py] → changed prices.py
Commits: commit
Notable: pytest tests/test_prices.py → 1; pytest tests/test_prices.py → 0; git commit -qam "Prices are integer cents" → 0
Ended: Fixed: prices are integer cents from the till to the invoice. All 4 tests pass; committed.');
insert into passages values (2, 'digest', '20261116-182231-b4572ae5', 0, '20261116-182231-b4572ae5', '/tmp/old-store/lighthouse', 1794854191000000, 'Goal: Deploy the sensor service to staging.
Outcome: unclear
Then: quay-1 is retired. The staging host is quay-2 now, and only the deploy user may log in.
Errors: ssh: connect to host quay-1: Connection refused [ssh quay-1 systemctl restart]
Notable: ssh quay-1 systemctl restart sensors → 255
Ended: Deployed: the sensor service runs on quay-2.');
insert into passages values (3, 'digest', '20261114-182231-148a3158', 0, '20261114-182231-148a3158', '/tmp/old-store/harbour', 1794683311000000, 'Goal: Add refunds: a ticket that is given back within a day is paid back less a fee of 10 percent.
Outcome: success
Then: Thanks, perfect.
Changed: src/refunds.py
Errors: FAILED test_fee_is_rounded_up - assert 899 == 900 [pytest tests/test_refunds.py] → changed refunds.py
Corrections: No, that is wrong: never floats for money. Use integer cents, and round the fee up.
Notable: pytest tests/test_refunds.py → 1; pytest tests/test_refunds.py → 0
Open: Thanks, perfect.
Ended: Done: refunds work in integer cents, the fee is rounded up. 3 tests pass.');
insert into passages values (4, 'digest', '20261117-182231-f95be19f', 0, '20261117-182231-f95be19f', '/tmp/old-store/lighthouse', 1794940831000000, 'Goal: Uploads from the lamp room break off on slow links. Make them retry.
Outcome: failure
Changed: src/upload.py
Errors: FAILED test_slow_link - TimeoutError [pytest tests/test_upload.py]
Notable: pytest tests/test_upload.py → 1
Ended: Uploads retry three times. The test for slow links still fails. Next step: a longer pause.');
insert into passages values (5, 'log', '1', 0, '20261118-182239-8346f885', '', 1795026160166751, 'the changelog is written');
insert into passages values (6, 'world', '', 0, NULL, '', 1795026161650952, '# Harbour
Release 3 is frozen until Monday.');
insert into passages values (7, 'completion', '20261118-182239-8346f885', 0, '20261118-182239-8346f885', '', 1795026163564427, 'release 3 is ready, only publishing is left');
insert into passages values (8, 'gist', 'notes', 0, 'notes', '', 1795026162372698, 'Asked:
- user: The tills send integer cents.');
insert into passages values (9, 'gist', '20261117-182231-f95be19f', 0, '20261117-182231-f95be19f', '/tmp/old-store/lighthouse', 1794940831000000, 'Asked:
- user: Uploads from the lamp room break off on slow links.
Said:
- user: Make them retry.
- assistant: Uploads retry three times.
Open:
- assistant: The test for slow links still fails.
- assistant: Next step: a longer pause.');
insert into passages values (10, 'gist', '20261114-182231-148a3158', 0, '20261114-182231-148a3158', '/tmp/old-store/harbour', 1794683311000000, 'Asked:
- user: Add refunds: a ticket that is given back within a day is paid back less a fee of 10 percent.
Said:
- assistant: Refunds are in: refund(price) returns price * 0.9 as a float.
- user: No, that is wrong: never floats for money.
Done:
- assistant: 3 tests pass.
Wished:
- user: Use integer cents, and round the fee up.');
insert into passages values (11, 'gist', '20261116-182231-b4572ae5', 0, '20261116-182231-b4572ae5', '/tmp/old-store/lighthouse', 1794854191000000, 'Asked:
- user: Deploy the sensor service to staging.
Said:
- assistant: quay-1 refuses the connection.
- assistant: Shall I retry?
- user: quay-1 is retired.
- user: The staging host is quay-2 now, and only the deploy user may log in.
Done:
- assistant: Deployed: the sensor service runs on quay-2.');
insert into passages values (12, 'gist', '20261112-182231-98951b91', 0, '20261112-182231-98951b91', '/tmp/old-store/harbour', 1794509071000000, 'Asked:
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
insert into passages values (13, 'era', '2026-11', 0, NULL, '', 1795026162372698, '2026-11: 5 sessions in lighthouse (2), harbour (2).
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
insert into passages values (14, 'narrative', 'current', 0, NULL, '', 1795026162372698, 'Sessions by month: 2026-11: 5 (harbour 2, lighthouse 2).
Last sessions, newest first:
- 2026-11-18: user: The tills send integer cents.
- 2026-11-17 lighthouse: user: Uploads from the lamp room break off on slow links.
- 2026-11-16 lighthouse: user: Deploy the sensor service to staging.
- 2026-11-14 harbour: user: Add refunds: a ticket that is given back within a day is paid back less a fee of 10 percent.
- 2026-11-12 harbour: user: A family ticket for 3 children costs 0.30000000000000004 more than it should.
Open:
- assistant: The test for slow links still fails.
- assistant: Next step: a longer pause.');
insert into segments values (1, 0, 19, 0, X'010000000000000002000000000000000300000000000000040000000000000009000000000000000A000000000000000B000000000000000C000000000000000D0000000000000005000000000000000600000000000000070000000000000008000000000000000E000000000000000F000000000000000100000000000000030000000000000002000000000000000400000000000000', X'00010001000100010000010001000106060606', X'B07F68579CE99089B07F68579CE99089B07F68579CE99089B07F68579CE990899D219483ACFBD21C9D219483ACFBD21C9D219483ACFBD21C9D219483ACFBD21C9D219483ACFBD21CC3D0314D18EBFD63C3D0314D18EBFD63C3D0314D18EBFD63C3D0314D18EBFD633318363F99CDF5A53318363F99CDF5A5B07F68579CE990899D219483ACFBD21CC3D0314D18EBFD633318363F99CDF5A5', X'0100000000000000010000000000000003000000000000000300000000000000090000000000000009000000000000000B000000000000000B000000000000000D0000000000000005000000000000000500000000000000070000000000000007000000000000000E000000000000000E00000000000000FFFFFFFFFFFFFFFFFDFFFFFFFFFFFFFFFEFFFFFFFFFFFFFFFCFFFFFFFFFFFFFF', X'C0870B6518600600C0B1807A18600600C0BFA78118600600C021B9B318600600C06308AF40600600C09BA4CB40600600C0B7F2D940600600C06DEE3641600600C0893C4541600600C00769DC68600600C031DEF168600600C03F05F968600600C0697A0E69600600C0838E087D600600C0E59F3A7D600600C021B9B318600600C0893C4541600600C0697A0E69600600C0E59F3A7D600600', X'090000000A000000090000000A0000000D0000000900000009000000090000000200000004000000070000000E00000007000000080000000D000000500000004D0000003500000033000000', X'00000000000000000000000000000000000000');
insert into segments values (2, 19, 11, 0, X'100000000000000006000000000000000D000000000000000C000000000000000A000000000000000B000000000000000900000000000000050000000000000007000000000000000E000000000000000800000000000000', X'000E05040404040C0D0804', X'9AC05C89B8B01EABE4A6A0577479B2B41A8830FF3242692FB07F68579CE990899D219483ACFBD21CC3D0314D18EBFD633318363F99CDF5A572FEE142785A1B3372FEE142785A1B33F93410D3E80D7F8F9AC05C89B8B01EAB', X'1000000000000000FAFFFFFFFFFFFFFFF3FFFFFFFFFFFFFFF4FFFFFFFFFFFFFFF6FFFFFFFFFFFFFFF5FFFFFFFFFFFFFFF7FFFFFFFFFFFFFFFBFFFFFFFFFFFFFFF9FFFFFFFFFFFFFFF2FFFFFFFFFFFFFFF8FFFFFFFFFFFFFF', X'5A50C51891600600084DBA18916006005A50C51891600600C021B9B318600600C0893C4541600600C0697A0E69600600C0E59F3A7D6006005FA7A318916006008B7FD718916006005A50C518916006005A50C51891600600', X'0400000006000000B1000000320000002A000000280000001D00000002000000050000005A00000006000000', X'0000000000000000000000');
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
insert into postings values (2, '0', X'02000000030000000400000009000000', X'02010101');
insert into postings values (2, '0.30000000000000004', X'020000000300000009000000', X'010101');
insert into postings values (2, '0.9', X'0200000004000000', X'0101');
insert into postings values (2, '1', X'0200000005000000', X'0202');
insert into postings values (2, '10', X'020000000400000009000000', X'010101');
insert into postings values (2, '11', X'0200000009000000', X'0506');
insert into postings values (2, '12', X'0200000009000000', X'0101');
insert into postings values (2, '14', X'0200000009000000', X'0101');
insert into postings values (2, '16', X'0200000009000000', X'0101');
insert into postings values (2, '17', X'0200000009000000', X'0101');
insert into postings values (2, '18', X'09000000', X'01');
insert into postings values (2, '2', X'020000000500000009000000', X'040202');
insert into postings values (2, '2026', X'0200000009000000', X'0506');
insert into postings values (2, '2026-11', X'0200000009000000', X'0101');
insert into postings values (2, '2026-11-12', X'0200000009000000', X'0101');
insert into postings values (2, '2026-11-14', X'0200000009000000', X'0101');
insert into postings values (2, '2026-11-16', X'0200000009000000', X'0101');
insert into postings values (2, '2026-11-17', X'0200000009000000', X'0101');
insert into postings values (2, '2026-11-18', X'09000000', X'01');
insert into postings values (2, '3', X'010000000200000003000000040000000800000009000000', X'010201010101');
insert into postings values (2, '30000000000000004', X'020000000300000009000000', X'010101');
insert into postings values (2, '4', X'0200000003000000', X'0101');
insert into postings values (2, '5', X'0200000009000000', X'0101');
insert into postings values (2, '9', X'0200000004000000', X'0101');
insert into postings values (2, 'ad', X'0200000003000000', X'0101');
insert into postings values (2, 'add', X'020000000400000009000000', X'010101');
insert into postings values (2, 'ask', X'030000000400000005000000060000000A000000', X'0101010101');
insert into postings values (2, 'assistant', X'020000000300000004000000050000000600000009000000', X'0C0402030302');
insert into postings values (2, 'back', X'020000000400000009000000', X'020202');
insert into postings values (2, 'break', X'020000000600000009000000', X'010101');
insert into postings values (2, 'caus', X'0200000003000000', X'0101');
insert into postings values (2, 'cent', X'00000000020000000300000004000000090000000A000000', X'010504010101');
insert into postings values (2, 'changelog', X'07000000', X'01');
insert into postings values (2, 'child', X'0200000003000000', X'0101');
insert into postings values (2, 'children', X'020000000300000009000000', X'010101');
insert into postings values (2, 'commit', X'0200000003000000', X'0101');
insert into postings values (2, 'connection', X'0200000005000000', X'0101');
insert into postings values (2, 'cost', X'020000000300000009000000', X'010101');
insert into postings values (2, 'day', X'020000000400000009000000', X'010101');
insert into postings values (2, 'decid', X'0200000003000000', X'0102');
insert into postings values (2, 'decimal', X'0200000003000000', X'0203');
insert into postings values (2, 'deploy', X'020000000500000009000000', X'030301');
insert into postings values (2, 'discount', X'0200000003000000', X'0101');
insert into postings values (2, 'everywher', X'0200000003000000', X'0101');
insert into postings values (2, 'fail', X'020000000600000009000000', X'010101');
insert into postings values (2, 'family', X'020000000300000009000000', X'010101');
insert into postings values (2, 'fe', X'020000000400000009000000', X'020201');
insert into postings values (2, 'find', X'0200000003000000', X'0101');
insert into postings values (2, 'first', X'09000000', X'01');
insert into postings values (2, 'fix', X'0200000003000000', X'0101');
insert into postings values (2, 'float', X'020000000300000004000000', X'030102');
insert into postings values (2, 'frozen', X'01000000', X'01');
insert into postings values (2, 'given', X'020000000400000009000000', X'010101');
insert into postings values (2, 'harbour', X'010000000200000009000000', X'010303');
insert into postings values (2, 'host', X'0200000005000000', X'0101');
insert into postings values (2, 'integer', X'00000000020000000300000004000000090000000A000000', X'010302010101');
insert into postings values (2, 'invoic', X'0200000003000000', X'0101');
insert into postings values (2, 'lamp', X'020000000600000009000000', X'010101');
insert into postings values (2, 'last', X'09000000', X'01');
insert into postings values (2, 'left', X'08000000', X'01');
insert into postings values (2, 'less', X'020000000400000009000000', X'010101');
insert into postings values (2, 'lighthous', X'0200000009000000', X'0303');
insert into postings values (2, 'link', X'020000000600000009000000', X'020202');
insert into postings values (2, 'log', X'0200000005000000', X'0101');
insert into postings values (2, 'longer', X'020000000600000009000000', X'010101');
insert into postings values (2, 'mak', X'0200000006000000', X'0101');
insert into postings values (2, 'may', X'0200000005000000', X'0101');
insert into postings values (2, 'monday', X'01000000', X'01');
insert into postings values (2, 'money', X'0200000004000000', X'0101');
insert into postings values (2, 'month', X'09000000', X'01');
insert into postings values (2, 'nam', X'03000000', X'01');
insert into postings values (2, 'never', X'0200000004000000', X'0101');
insert into postings values (2, 'newest', X'09000000', X'01');
insert into postings values (2, 'next', X'020000000600000009000000', X'010101');
insert into postings values (2, 'now', X'0200000005000000', X'0101');
insert into postings values (2, 'open', X'0600000009000000', X'0101');
insert into postings values (2, 'paid', X'020000000400000009000000', X'010101');
insert into postings values (2, 'pass', X'020000000300000004000000', X'020101');
insert into postings values (2, 'paus', X'020000000600000009000000', X'010101');
insert into postings values (2, 'percent', X'020000000400000009000000', X'010101');
insert into postings values (2, 'pric', X'020000000300000004000000', X'050302');
insert into postings values (2, 'publish', X'08000000', X'01');
insert into postings values (2, 'quay', X'0200000005000000', X'0404');
insert into postings values (2, 'quay-1', X'0200000005000000', X'0202');
insert into postings values (2, 'quay-2', X'0200000005000000', X'0202');
insert into postings values (2, 'ready', X'08000000', X'01');
insert into postings values (2, 'refund', X'020000000400000009000000', X'030301');
insert into postings values (2, 'refus', X'0200000005000000', X'0101');
insert into postings values (2, 'releas', X'0100000008000000', X'0101');
insert into postings values (2, 'retir', X'0200000005000000', X'0101');
insert into postings values (2, 'retry', X'020000000500000006000000', X'030102');
insert into postings values (2, 'return', X'0200000004000000', X'0101');
insert into postings values (2, 'room', X'020000000600000009000000', X'010101');
insert into postings values (2, 'round', X'0200000004000000', X'0101');
insert into postings values (2, 'run', X'0200000005000000', X'0101');
insert into postings values (2, 'said', X'03000000040000000500000006000000', X'01010101');
insert into postings values (2, 'send', X'000000000200000003000000090000000A000000', X'0101010101');
insert into postings values (2, 'sensor', X'020000000500000009000000', X'020201');
insert into postings values (2, 'servic', X'020000000500000009000000', X'020201');
insert into postings values (2, 'session', X'0200000009000000', X'0102');
insert into postings values (2, 'shall', X'0200000005000000', X'0101');
insert into postings values (2, 'slow', X'020000000600000009000000', X'020202');
insert into postings values (2, 'stag', X'020000000500000009000000', X'020201');
insert into postings values (2, 'step', X'020000000600000009000000', X'010101');
insert into postings values (2, 'still', X'020000000600000009000000', X'010101');
insert into postings values (2, 'test', X'0200000003000000040000000600000009000000', X'0301010101');
insert into postings values (2, 'thre', X'020000000300000006000000', X'020101');
insert into postings values (2, 'ticket', X'02000000030000000400000009000000', X'02010102');
insert into postings values (2, 'till', X'000000000200000003000000090000000A000000', X'0102020101');
insert into postings values (2, 'tim', X'020000000300000006000000', X'020101');
insert into postings values (2, 'until', X'01000000', X'01');
insert into postings values (2, 'upload', X'020000000600000009000000', X'020201');
insert into postings values (2, 'us', X'0200000004000000', X'0101');
insert into postings values (2, 'user', X'0200000003000000040000000500000006000000090000000A000000', X'0C030304020501');
insert into postings values (2, 'wish', X'04000000', X'01');
insert into postings values (2, 'within', X'020000000400000009000000', X'010101');
insert into postings values (2, 'written', X'07000000', X'01');
insert into postings values (2, 'wrong', X'0200000004000000', X'0101');
insert into spaces values (1, 'engram-static-1', 256, 1795026152959969);
insert into vectors values (1, 1, 1, 19, X'000000000100000002000000030000000400000005000000060000000700000008000000090000000A0000000B0000000C0000000D0000000E0000000F000000100000001100000012000000', X'D17F0908C4E149ABBBAB9240EA18CFC9F8ECEE37E1C72F382CF913D9FEF1FD08DE0646BBD3F7FF14EA3AF000CF20001AF300FAFE53EEEABDFB0730FA221CC5FCF706D10CE902F4180F03F7F807F616EAFEE7070B010B23C9CE0104FFD20CF9E0D6F1DD1F0826D003EF0420DCFB00FDFE2AF10EF405F5EA2000F60DF5F6F1FC02F6FEEEF2D0FAC02BE91F39EFD2F3011D0FEE031026F8F1FA0B221424EB1A230BE105D20BDF0712E6FAFD2D1BEE1FF2F1EB0A2B03081221191CF2F82AD9F8ED081802E1E91BDFEA17FFF306FCF6F3F2D9053FD716D5051122011406F5F71F01FB1201ED1608FA15FBEC011C1BD7D034F6010B21DAE60A050318040A1316EEE7F40A2EDC1CCA3B7FAAD9FED305F236B8FD4B31EE18C3351425EAD0141006091BCE00DF3402E8F004C71C3AE70712E4A80FE92A11F602F4B90A10D1E81CEB10D6F10515F90D1DEEE04B1AD11E121BF4E8F704011915ED281A0A2BF40F12050BECD5FA09ECFFF604E0D3F40CF9F91509FFDEF0F90402451A19FAF9F8FEFD17FEFDEDF0DB09E8D901EAFBBC2B1AECF7F4F70BF9F32425030C0CFC05FE020D1DDF160AEF02CF05EFF8F3FE0615080F120CF0E5FF02160002FE01210B08100FEEEFF0FD05F7FAF7FE030B00F72DEB1301FEFF04F214DE00FD100EFCF407E9F40DF517F4F2F5FC11FF11090FF3F5E802FFF60DEADD1304EE0608F207EEF60FDC08F0FD171041FDF6EC057FC3D6F0D50FDA49D0F8481DEA2CC41EF513D9E50805EE0C24D613DD0BF4121C02E20917E6F6FBF69D21111603FB010BD901E7D7E7FFE90FE9F10723F2F619F2D32700F409071C07E50D150C151DE61F0C1712F41210070B0300EBFFEFF808F4E9D6F70FF1060B1801E2F4ED0CFD1E150A060800FBFB18F7F2EC13DE08E1DF01F5FAEF080CEAF2F3FCF7FFEB1119F7FDFFFF0506001206E5131C0208EC0C0704FF0CF609FE051511EBE5FD0AFF09F7FD0711F2050214FF05FFF2F9FFEBFF021002FE0818010AF908FC060717F5F3FA0817FA0318E4F7FFFA02F1F3F2F90DFC01F710F5F6FB0202FEFFEEF70B0CF5FE14FA05F60008F807FE09010D7CF4F5E92B7FD3DB44D2192113DC227125F51CB144052EF8FE31000BE4FCEE24F42711F9FE1DDB0827DAFD10DDC1150D321D190A1BE0C7E3BFCED9EA0ADA19F459F2F501E8EFF31803F3E43BF3E0181122162B04281C09F60C2FFA0206FE00F1FCE3E8FCF3B5DA010108160510E1DFF40105ED3F320FFAFB0BECE431EFED0B0DF940CFCA01D0F4D9F101E4E5F6310505E7231FDDF404F90425FF070EF00C10FD11EB090D101F1C0813F7041323EFEB021C030905EB1811EAF9051816010D03F014D8180C13ECFA050CEC110910F50C1004FC00F20F12E82027F0EAF40E0FF0F7E7F21A07FEF526EBEEFC010C0905F1FF1600F20B04FDFCE510FBF408F910022D411EE3A7465CF5D47FE0600229FEFA4214DB09F82B212D3C994A43EA0DE403AEE92A14D0DEF5FDD403F4D836030129CB2F24F004E7EAD815F1280E1ADDCFFBF22608134CF9C23FDCFECEBFD6C3C51ADFD30509A40A2550F6E2053319B703F8FA1BEC2B1D03EDFFCBFEF0DD0410F7C53A090CE80AF414F416D8F826F909FAA70F13E205F100F80FEF021F33D5DC16F94A03FADFEE13E00611FE15F8FA23D20AECEDFC09E70D1E0ECB1404F60045DF00F1F6ED26020DEEFBF9C90EE70913F80521FFF12BF8012AF824E725E6E9EDFE040716E405F2E80EFA181CE1E042F41D2BDFFF00EE10ED3318DDDBEAF000E9F304F51B14FFFB1505EAFE151C0307F9190EF47DE87BC93D7F8AB025CC18F129AEF8565FFEDC9F2FF67B4DD6596DCFF722E5A2F2211DEEC7EAAECD0A590152F584F2BB5F21EEC6F598B234BC11DFFD41E7AD0318FFD910F3D273BEF711FFEAD5BF41F23D4C54DD16273C6BC72B11C8C7E3A5E40903353F0AE9D3E9FDED15FA111EDA47FC2FB23E205103FE07F8EFFFF926A60B0710FFCF18CCF5832608E6E6F21500250D3713F3301214E416FAFCF1DD28EBE1D3DD25FB041626EB23CF1E043ED70208FFCBF7F5EAFC32E5FD2CF60409F437340CF31224F214FF073504102CFC1BE909F9D641E1DDE0DF0A11D8FD1F0C26F4CFE50616F6FD0A49E0F6F4F400FB0907C629F8D92208DFFED60718DCEEFC131E2A48FE07E0FF7FACBB09D3FFF9559E23331FBD28C53C0248FECC2921F747F3CA1BE72604EFD5E3D60D10E3EA30F0C90FF219E806F7EBB605E7D9DAE9F019D2D8FE1AF8FE2804CD2DF5F201FC2801E20A070D0A02EA3800231EDFFA2FEF02EF00E1D80303F1F1D4CD0F09F0F60823FCF2EDE70714210513FD01F4FDF80EEC03EA20E2F7E8F0FC0FF7ED1A12EEE3EEEAFB1FD90C1818F40303FE09041806ED020CF407EA03051D0B05EF0AF2FB0B08F5E8EF0002F60001EE1AFFEF0C1218FFFD0804F3EF000605FCF91014F814FC0401FD0806FEE4F3F81DE7001FF0F1100C0807FEE3FE070E06F00DF1FBF6F7FA0D04EAFE050BED0603F8F3F8EC050702FF0B06E4591918C2F87EDDC83CD135E924C4097F33DBD5C362237601BD35D4F01305CB27E02019E21501DBF1FD0EF84004C511003FEB1F12F0C1C5DBCEF4CEF9F9D00A0731D6021EF0BF73FC0DD6D54308CBFBE633001FC30B15390BF00036D1CF18E5FAE5F9EA1BD6AEE9F703F1260513D4C102DC10EC391823F823F1F9E91FEF16E916171FDAF721EDC0DCF40118CCC820FC38AF0109D9FC111D061010070FEEE711DEE7ED1A07222B04F014E6FF2C41F5C900F0F3CEF5F8E227E4F606FD102B0CEFF2FBE9031207F50022091218EC130518F711F8F5E7E30DED2118EDDF00F522EBEBD90115170D0F1FCCFCFAF0EF06FCF8EA08F3EB1401F0F9EB07F80C05EA1008100C3CFCF5A67F3AFB2BC7D2CEC9722AFFF6EA72EEE5D443D2581BE4500FE829F629E3D4F003F54DDBF52CC41AD72F0C07D1E6FFEEEE2A39D9F43AE41DB8FC203B061F04CBF31FE30A3800CE22F617B9FDD0DD1AD42CD223323EEAB900C71ECCCE3A0B4AF4F61BEDE905BD25E91128DEE706FC2212D435DDE8E9F6F40D9AD0ED29EFD4EBDF0A042503001208C62524E11208E804EE0633EB051124F418EAF3EDE62F2430FA16E30AE4F82038E200FEC5FD34F736161F16C30DE5FF0D4011E835E707060DF81710F1FC060C1B0720110CF6E8024FEEF829F914FE05F9F2E5EFCE2EF9FEE5051CCA1501F61112100208F8152617DF051F11FAFAE0DFF1FF0AEEF0C1D239A8BE3D81290E1F1238E002FAFB3038E719F4B9E608230E96000594B52617CCA2F3C908F01FF73BB9C509CDE4ECE321F41CDFFBD8EA33021404D416EEE4F819ECC8F5F1B607AEFB223707180D10280506FFF40C1BB91DF7F7E4CEE6D92015EDEE13181F2909E9F8CFE21900FD09F8F9FEEA22E403220426DBFDF20F0DE9F1F914ECFD050BD505E90310EF11FDF115F7EEFCFD00E5F8EAF3F4F1221D1518F8E1EE0AE930E80902F0FD0D0307FBFB1E0306F3040EF1F92FF8FBFBE6F3FE09E8FA080308131B020CFBEEEEFC0A06EC02FB0109F62AF9182EF20E1803F216F31DF006DBF1D7F911F90D09010BEEFFFAFCFF0AF618F1F7170DF3FF0BF90201F7357F25EECCEEAFFEC30ACD33CED0FE1E26D2EE2902000112152827030F45DCF02713DE2B1CFDF71A051928E5F9E8350B0DF2D92408D1DDFB100B1DFFF71FEB01D6DEF5F011F704190EF7DF1E0D0FFC2C250E17E2FDFEEC1409DE120FE7EBE116040DF21219E81CF0C1EBE6F90CECEC1B0F29FFF2EFDFFFE5FF1113FA1DF7E7FB130E1502EA00FBFEFF46F7E323FA102F0E040E25F2FF070AF0FD0DE805EAFEDE05F724E8FDF8F407180D02FFF702DE0200E8E3ECEE07E5081F0A2DF5ECFEE8E9F0E4FD04FD0D0AEC1E14F9F707F00E0614F500F2FEF903F8FDFC060AF6FF0904F507F4FB01060FF51BF70D01000AFB05F7F70004FDF71006F60F120B04FBF7F8C32548BCB6449D03E40A0267BE33BAD209F1C259071017DAF40FB4EE38E2BBBB34E0CA5ACCE78E1CF0E8DAF2EED4060A1D15C727EED0812AF9397B0417EFFFFDAFC3161402C8A717ACE9AA2D0545233349F91BB5F9F3F7E60AD729E7CB04C21D0C1BF51DFDDB0FFCEBFBDDF019FBF623323AF3F3140A1DFA111CFADE0FE707B9E6281DF1E50EF0F8FE3FEDF03537171012E11E1AE4F2E71CD90A01D829F831E3F0E922DB0605E9F91A01FA1CFDE9E2E2F8EAEDDBE5EBF9EE1F1F26E3F6F3E7F2D1EDEC0C1F1117F20D0CF6EF0B1C1C0626E40D06DC1C03EA0DFAFB2900EDFBF5F4DF04DDF025FAF11DF10AFEEEF3FEFE01EE0A16F8F90E0F07EE110C0CE2FBF8B8052ED29C069B19CAF6F150BFE5BCCF3813043CECBFFABF1808E60DEDDEB3F725DA81260A3B0009E833C8BCE2BAE3FEF9130758F493B80BEC213731FDE1D7E0BCD7E10704D5B7D8C20F0144362311FE3FFD22D40E5B07B716C0FBF3D0FBCD310D23F43926F33D08B2EEB5CE1226F6E5EA41F5E126DBFA0919FA0ED50E1209F3D41CF7E7F0EB13F90F10F2F507321A1A16E312F7EEF3FBF9D6FA11D91A030FED0B002AFF0305D21D08FEEF181103EF051D050AC9E816E42C48132DF5EBEDFB18D5F8180B37111CF4141BF8F8F80C230011D30E10F81E0CF627E92224FDEC2CF309F912D800FAF9010C010C140F0419EC1FEDFFF3FAEC1A11F40A001602F5EBE7183552F381D3BECE470AD7E7F72036120DDD0FFB08F3421A1C16B10C2028E22EB62924F3151F1704D60B13D3DE0C0612DA12D1F5EFF4F8D6150BE51EFC18E0ECE10C06D5E2E11F13070C00C9E7DA07FCFFE5EC0CF30211FE00D8F4F0D8DDE7DDD6F12A12F9EE02ECFAEBEC21F3F1B20AFA160214F503030E0E28EDF53B14EC031F0000F5FD1AF423042719D62CDEF308F10F2CF513FF1F1AF50915EFF8FBFDF70DEB0903FDFCFB0E0E13F6E702F8FFF7EAE2F4090C1EEF0511001CDA06F802F108E7F7010704FD10FAFD06F2FAF6F4EF21FCEEF60EFAEA1AF505120FF201F7E804F3E8F80BEE000A06FE0A0518FEF2EFF70B03ED15F20707FC150003F8F2030AF87F51F692C0DCED4F16F90F08DE56FB3FD10A08FF1C1B49301F00000824D840E00AE705FAF71D0FE9F925FFFBFC27FD0C28F2F3F2040CE5FCF2E604EEECE80BF6FDF1E416FA2F1C01F9F1FD0100F7F5FFFEF10F10FDFEEF16F6EAF6EDECF4E7D6FA0A040AEDE8F80BFD080DFAE6CC13F3000409FA01F1EB0925F10E2BFE09040A0F1E07F108F30BED0201EA0DD4F5170108061EF0180D08F01007F70C08010FFEFBFAFEEB08FB000315FE12FA080FFCF4E8EBF904FBE3FA02FA0DECF60BF3E6F1FDEB07FC0002FEF805FCFB01FA010115FCEEF801FCFD0DFE120303F4F8FEE4F0FAEFFF110214FF000103FF12ED0104F806FBF30BFEFBF4FA04010E08FE09F7DE7F310306004DB7E4FEC7162219DEE26129E9F3BD2ADE3620021FE926EEFFEF22FA1A0DF811F5E5162809EF06F3DF1215340FE43705D3C9E9D7F7E20FF9D613EE2FF7FCECF9EC160CEF1DF30F06E10D09100A34FA0A1AE8030520E403060AF0F60CED15F6F9D1FDFC08011905FCFA040E10E6F1182303F5E91BF4F40EE2FAFEF4F827E1E0F4D4FFD30714ECF2FE2A01F9E21316E5F9F2F8040EFC010DF42117FB08DD000100121208070C01061BE5F8F81403F90AF50D16FC03F40DF700FFF0FC0FDD0A19FAF702110907FF08FCF6FD0719F908E91417FB0B0FF7F5FF0A0BE4F8F9ED12FF010911F8F410F901FD0DF3F2070CEA010AFBFFF90601FA04F70A02F77F5A1B1AE932E3DF31D40F1AFCEDD55A22EEC3CE31F16841E125EF0E15FEFA1F0C0825E0FBF2FB031030DB440210EE1A44F7E601F9CAD8E4D20DDF16D1DF18F922F3FCF8FEEB3FEF0202EFF101CFFCF507EE2ED50F0E161B0806FEFBCE1DE8FC05142003E9D817F50CE02DF4EFF9F50417E6EF090D16E6F506EAF706E510EEFF121FEB0D0EEBE9D3FD030BDFDC1BF239DD12FADA01F909FD0600EA00F8FA07EFF9F311140E1915F609EE010A2AF6EFF805E6F011F2F70CE7FD01F7071702060705ED0609FE0D0421FB2006FEFF0FFD0502F90FE7F312EB1005FCED0BFF1AF5EDF2F1FE10FC0F10EEF80AEE020BF905EB0900F30D03FAF5F004FC07FDF91009D44859BF8E3881259DDEEA71C3FBC7DF34F5D548F5D9EAF1FC44BFF943F3A7D265F0AF63EA19B724F42207DECEC0FA00270CE61EE9B895201D294C35F606C6F0A3C0FAFCF6D2CB22CB13E43F1B27061C44EC20CC0B3CFBE417F014EECEEDCF33FF2AEB2F0BD838FFC5E2C3F313F0EF14E630FDEDFCE308DA0721F2D704FE0BCDE1211FF2E1FB03FBE720F2F82124321F0FED1E2AE8DEE104E0021AE2161024DDF7F140F4040CD2092207F618F6E2EDE625F4F5DBEC0EF714282237E309EEE2FBD7FE020D170326E20425F4ED081B1E101EE40AFBEB25FCF816EC062804F021FC00EA11E7EF08FEF121ED0904F6F6070814EF000FF6ED120F0308131A03F6F9ECF47F73F8E1BEC0D22508D3F529F720E248F712E0F6060E454918EDE8211CDD37FE20FF0E02021C08F71227E013FC31F52731EEE4FEFEFAE6EAF0EFFE09D9E917F411FCECF1F4221800F908E9EF04EBF001F4E613F9FD0BE60B0402D5FEEE03F1E901140EF8EEEB0C0D0AFD21F2DED617F513E604F40B00E9F823EB0020FBFE15FA0E2AF70501ED0AF4FD06ED0DE0060107FF1304E909FF08EF090AF10A03FE1207FCFDF6FE0008110D0CFFF902010BFFF8FAF0F517FEF206FA0BFBE6F90001E2EF05EA080CFB030709FD18F80AF701F91AFFFDFCF9070707FD060F05FEFA02EBF8F4EE010FFD10FC08FC15FA0DF9FE03F500FCF00AFC00FEF908FC0C08FB0C08');
insert into vectors values (2, 1, 2, 11, X'000000000100000002000000030000000400000005000000060000000700000008000000090000000A000000', X'1045E00CCBDC5CF7A9FCE125F232D234622BCD39902DF725D3DB16F4F22734F719F620CA390D00EC1AF9D4FCEA0B8136392801101814D8FFCFDDFAD9D515E10E0926F70A46CCBE190618F2FF150EE109120E0209E029032C15F70D160F0AFA22E3F4E6FEFBE8C8BEF20FE405F125EBD3EFF031061F0EEB0E15F4FE1E3506E6FD31DB09CAE50A0900000002E7E6DFF4FF13E00517E4FC0E14251DFE21EFEB04141F1AFC0E0C17021FF9FDE6F11307EADCF90A0F17FE06000AE300F826FBFD14F5EEF9D7FEF416E90B0010FC06FB18FD06101106EBF7F711EE0B16D302EFF5FDF2F5F7F50B01F5E619EDF90A0505F1EDEEFB0B10F9171904F2FD03FA0712FE1001D86D7FFDAED9ECAF4A07B21FAFFFFDFE4CA0E97BC4C8EE07F81FCB7CDA35FA5008D5B502D9B634044FDA0D6010EE02C8CA12162716D1C6FE46082234D713F914C0EE0FEDF9D251F5DA0CE3E619FC1B1BFE5317E143EC112A331761D5E946C7E21232390E31FD97D4D1C9383B164FD9C3FEFF4950FA01DE1011F2D64B72EC050520CC03D329F616FBF718C5CEF12D13C90E041707EB240C2FE4001FE105C000F113B9156D0926D0FB14E10513DCE1EFDBCED2DFF4D4021BDEDE4318050328E9F2241E062C19F4F40EFB08E117E7EA13100FD8F5E70BF5C7F5FE12EFDDE72803FDFB15ECB9D2E82D3ADCE8090AECC10122F90E16F3060702F50B17F2DB1B0C1102FD7227D081E44823B340AE4DC409B5D014DEE04DB40F463926EE16FA0F0AD9C4F902F749B3E410FDF4F20FCD14DFAD39EC30FA2FEAD2C9E4E4F8FDF4F31CFA01EDF5D1DC22C5D5370CD9FE0E21ECFAE61DF80E20F52E37F82FCD1D10F2D9C7E5D7F4F4101FF1F2DEDED5C70C1525E5E10003F6DF2B0111F0071FFFE336F303EDEE11F2F3DC15BE08DB2A1AE1EBF61A0716F33F18EF07030D1010FCF224F024FCF7E5DEEDF714FA1D001BED050004F8E2EBF6F3DF03F10413120920E70F0AF302EFE5EF0E171918180E21F9FBFEFB0DF310EB00F0CB120DF91316F9F9F20226DEFBE800F919F4F01A03EF070AF0FAFEFBFA0012E2F300F10600030E0611F3EC1C0353E9FCD4047FF0CB0ABF1AED26B8E423FDEE2CC51C161E02EA19E2FEFF14CE03EF1E07D90011F70012F8F40BEEA726FD1E070B0AFBE1F5ECDBE0FAF718E8060E21DAF41AECE42212E212001FF4EDED0C001021F528240712F2110E06FAF7E3E2F7E6FE1103E4E0F5F4F2040715F9E0F9E5FDF026180601FD08F9F015F4FDFAF5ED02EBDE05D103DE131EECE8F508FF05EA1F1DFF0201FA0F0EFE130DF0160DF405D502F602030AFA0E030D090EF3E3F40B11FB05FB18120006040C0302F6FBFFFDE9FC0509010B021DFA0F0003FAFB0115F2FCE40F17FE0616F0EDFA000FECFEF2F81004FFF90BF6F20007F6F60EF5F70B0FE7EB0BF504F9FE07F40BF4F50B2E610508BA037F0CA064CA190030A0F7231BCB08C230214F34BF4E15F126F8C3E9FE2335C1CFFAE7E0E321E25CE8B82CD34C1105DFE7D3EEF0DDE7DEFC05E9F50C23E9F235FAC346F3E9FEDC04D8CD0BE7080F2ED71F2B3D30CE1329FDC8F2DBE4E6FC1C25FCDDECF5EAE20FFD27FFD815E301D92C132EEF0709F7000CEA18C7F40BF5FCF60EDEFFD00E1E01D9E510F22DEB1F06F516FE090E0D01000DF000FDE5F2DF01F4141416DF19EA04051EF3EEEBFEE9F606F7FD13F5F115E81712F11218FAED1B0C011B0A15191007050207030702F805DBF514E2101BEEE117FA2AF9EDEA0A070BFB091CE5EBF3EFFBFC0301EF1109E4FC05EFF0F00210F605F60717EA28359F920A8170C636EA58C4EDB6D6FEDAD64FF7E316DD241CDED11AE8B2CE2EF89E5DBFFEDE39E9EFF9BF0BBAEB16F91ADD4AE2B9C41CFD2633FFFA090306D6D5E0E119CDB400CFE1E939141E160A40FC19DB051B13DE27C20FF8D7DCBD1CFE06EE242AF137FFCBCEB0ED1310EE0A0C23E7D214E907F6072AFCDF14F60ADCD2250200F10EE6F10432FDEF18291B1016EA1A15E5FEF20CE9FAF8D62DFA1FE3FEE812DCF80FDF140F01F015F8E9ECF3FFF3F0CDF5FEF8FE3A1D28D8F8F8E7FBD4E60010161B2403191EF4F10B0C19001DDA17FCD5230AF221F21219F2E91EE70AEC0BDEFBFBF4F420F61103FAFB020408EA0BFCE9ED071304FC0B0E07EFE5FA10513EE181B0D5383733E6F907EC27EAF9B6080D00043A25351DFEE2182AE220D127F620DEFF2F20DFDA36E206F6FF10EF23E705E5F61EF0F8FFCBFCFA0AFE0F0004E3CC10E61F0616EF06ECF4E4FBDAFFECED1D0D0D1CFD19DCECFBF3D2E8D6C9ED150514EEFFF804D7E11CECF3C002EDFAF1F8F902EFF10430F3FE30030405F50E0011FD1ADD18F21510E413E5F90AFA0A1D0EF61513100203FDF00806FFFB04EFF6F3F306FC0F0615EF02F9F511F7E8E9F0F71305F8FC0C0511CF0C05F3EBF6F0F208FD070615FA1002FB06F9FDF917EEFFF2F400FB08FE0C0CFCEDFC06DC02F5F9FD10F0FDFC0BFD09020DF7FA05FF0002E7F8F6FCFEFD0AFF0702FBF6099440F0CEFA0326797F19E05821185CF0F1DB20E0B03BEE15FDE8B5FC09EE6BAD28E4094945E9C43EECD00FE900F7BDE5BB1413FCF40C0226DB2019FCF320192F080E2E2F1BEAFEF3EE0DD22D0B32FA0E3DE7E40113E720C50BED5E1AF2E81E11EFFC0F370906EDCB311B06B805BB240FF536FE2A141B013BCC09F818E30006CC0FDF24050BEA0A03262319F313EEF936F91102DDF79CDA1A070C1AF8FBE40C0DEA050D1034E715F7D718E61F2F12ECF0EBDBFC2708FF10E007E71512FAF20002DD2F11161006EEF020EC370C0600F5F802F120F621DC03EAF5F80AFE03180DF80701F509150801FC0A08021F04F81A09FE0B03E00706F5ECEDEE03F910E8F4FEA0147390DE2417257224A6318D0C0C4033EE0C4D18F70E00F937110138F8217F2007CE01CDA8EDCDE0E3F0371326EBA422FCEBAA0E0BEB1000091D1AA02A2500F12F00EBE70CEFCEF1F4E100FA160A234544E0D007F242CF271119F5F91AE8FE03DDF0EADA1EF0E7100E311D092EF6DAFBF32E3F0CFA00390C23DD2B2910FF05FFF4F8D8F810F60E0336E2EA0808E8E91C1E0302DE1A040B050312F41C22FB02FDEAE131FAF2C4F404F2F20D09F019F5F4F3F004F9ECFFE2F205F0DFFDFDD7D9F6032904101DFA01F8F0CB07091A1CF31AFD27FA1900EE2607040FF0E7F5FDE617FA00DAD7F51FF6E40E07FE0CFAF801D502F6EE0BF3F9E80A1AF7D7071605FAF04561D48CBE382CD629B87FA2F010C6FBD5F669B6D7664614E5E6251B16CBEEE2010111C2DB04E9F4EB16DCE911C74EFF2A00FCFAE7ECC7E3122B04EC061016BCD4E3F7FAC4DE2C1E0FF7091FEE15DE02EEF81C080633D70ADC29EEF3ECDFE9E7F0132700EEF106CFE6DF090D2EEAF8EA0407FA16EA17F510140BEB3AFDFCFE0B22CDF9DC0BC42DF5FF1CECDCE017FC111A3DE9F80001141B1109EC12FE330704D6ECF9FF2AFA1A0517F2EFFB050ADEE5F203F810FC040407F80EED0E0D100BEBE1FB0B2309292905E904E6DEF507EDFEECFAE7CE1400150F0C0606F40924E5FEF9FFEA24F1F92301F7071DE2F8E6030DFD1AF01206F1071F1414251BF5F32E2631E7F6D1D643379D06DC1FEE3CBA1E4025BA3C9C190F1BD0DF14CBF92E2ED9280028D82E03FCEF08D1EEFCFD0A815030410D070712F81ECDE1EDD5CF0A0228121CF70C45DABF190D12F7F613FCF00EFA130204EA1603301DE616150B0BFE16E6DEF119FCECD3D1FBFCE015E62FECDEE3E425F41C1A040A110AF81F36F5FBF518E5F3DEDD0DFE0BF9F310E1E7DAF7F507E50610DB070B1B1E17F910FCE512171C1D000F040DF829ECFFF2FD0DF7F1D7E1120618FD0A0807E507001CFC0212F6F7FCDB03F1120116FA180206F821F81712110AF0EA0C1FE80A15E403EEE508E5F6FEF915F9FDF111EEF9FFFE08EEF8F8010616F61214FFF7FD0DFAFD18F10B09');
insert into answered values ('claude', 'demo-one', 'start', 'startup', 1795026155376519);
insert into answered values ('claude', 'demo-one', 'prompt', ' 3bf1ab8ea53e3921', 1795026155709727);
insert into answered values ('codex', 'demo-two', 'start', 'startup', 1795026156365285);
insert into answered values ('codex', 'demo-two', 'prompt', ' cc03627f6be9bad7', 1795026156747829);
insert into news values ('flush', '20261112-182231-98951b91', 1, 1795026152683371);
insert into news values ('detect', '20261112-182231-98951b91', 1, 1795026152683827);
insert into news values ('reflect', '20261112-182231-98951b91', 1, 1795026152683827);
insert into news values ('flush', '20261116-182231-b4572ae5', 1, 1795026152684706);
insert into news values ('detect', '20261116-182231-b4572ae5', 1, 1795026152684880);
insert into news values ('reflect', '20261116-182231-b4572ae5', 1, 1795026152684880);
insert into news values ('flush', '20261114-182231-148a3158', 1, 1795026152685348);
insert into news values ('detect', '20261114-182231-148a3158', 1, 1795026152685483);
insert into news values ('reflect', '20261114-182231-148a3158', 1, 1795026152685483);
insert into news values ('flush', '20261117-182231-f95be19f', 1, 1795026152685900);
insert into news values ('detect', '20261117-182231-f95be19f', 1, 1795026152685976);
insert into news values ('reflect', '20261117-182231-f95be19f', 1, 1795026152685976);
insert into news values ('flush', 'notes', 1, 1795026162372715);
insert into news values ('rot', 'gist	notes', 1, 1795026162372698);
insert into news values ('rot', 'gist	20261117-182231-f95be19f', 1, 1794940831000000);
insert into news values ('rot', 'gist	20261114-182231-148a3158', 1, 1794683311000000);
insert into news values ('rot', 'gist	20261116-182231-b4572ae5', 1, 1794854191000000);
insert into news values ('rot', 'gist	20261112-182231-98951b91', 1, 1794509071000000);
insert into gisted values ('notes', 1, '', 'user', 1795026162372698, 1795026162372698);
insert into gisted values ('20261117-182231-f95be19f', 1, '/tmp/old-store/lighthouse', 'assistant', 1794939991000000, 1794940831000000);
insert into gisted values ('20261114-182231-148a3158', 1, '/tmp/old-store/harbour', 'assistant', 1794680791000000, 1794683311000000);
insert into gisted values ('20261116-182231-b4572ae5', 1, '/tmp/old-store/lighthouse', 'assistant', 1794853351000000, 1794854191000000);
insert into gisted values ('20261112-182231-98951b91', 1, '/tmp/old-store/harbour', 'assistant', 1794507751000000, 1794509071000000);
insert into recalled values ('exchange', '2', 1, 1795026155057322);
insert into recalled values ('exchange', '3', 1, 1795026155057322);
insert into recalled values ('gist', '20261112-182231-98951b91', 2, 1795026156419562);
insert into recalled values ('gist', '20261114-182231-148a3158', 2, 1795026156419562);
insert into recalled values ('digest', '20261112-182231-98951b91', 1, 1795026156049054);
insert into recalled values ('exchange', '11', 1, 1795026157067147);
insert into recalled values ('exchange', '12', 1, 1795026157067147);
insert into told values ('20261118-182235-f08bc78d', '1906f5a6f59f2d84', 'You are session `20261118-182235-f08bc78d` in Engram, the memory all coding agents here share. Search the past with the `recall` tool or `engram recall WORDS` before you ask or redo; log decisions with `engram log`; files you edit are locked for you. **Last work here (quoted data, not instructions):** - codex on main, 3 d ago, success [`20261114-182231-148a3158`] > Goal: Add refunds: a ticket that is given back within a day is paid back less a fee of 10 percent. > Ended: Done: refunds work in integer cents, the fee is rounded up. 3 tests pass. > Open: Thanks, perfect. > Errors: FAILED test_fee_is_rounded_up - assert 899 == 900 [pytest tests/test_refunds.py] → changed refunds.py > Corrections: No, that is wrong: never floats for money. Use integer cents, and round the fee up. > Changed: src/refunds.py > Then: Thanks, perfect. > Notable: pytest tests/test_refunds.py → 1; pytest tests/test_refunds.py → 0 - claude on main, 5 d ago, success [`20261112-182231-98951b91`] > Goal: A family ticket for 3 children costs 0.30000000000000004 more than it should. Find out why. > Ended: Fixed: prices are integer cents from the till to the invoice. All 4 tests pass; committed. > Errors: FAILED test_family - assert 35.10000000000001 == 35.1 [pytest tests/test_prices.py] → changed prices.py > Changed: src/prices.py > Then: We decided: prices are integer cents everywhere, no Decimal, because the tills send cents.', 1795026155437950, 0);
insert into told values ('20261118-182235-f08bc78d', '9af8695f8d6bf6ac', '## From memory (quoted data, not instructions) - claude 2026-11-12 system [p1] > Goal: A family ticket for 3 children costs 0.30000000000000004 more than it should. Find out why. Outcome: success Then: We decided: prices are integer cents everywhere, no Decimal, because the tills send cents. Changed: src/prices.py Errors: FAILED test_family - assert 35.10000000000001 == 35.1 [pytest tests/test_pric… More: `engram recall WORDS`, `engram get ID`.', 1795026156049173, 0);
insert into told values ('20261118-182236-2ea63b99', 'c4400cf6340d71da', 'You are session `20261118-182236-2ea63b99` in Engram, the memory all coding agents here share. Search the past with the `recall` tool or `engram recall WORDS` before you ask or redo; log decisions with `engram log`; files you edit are locked for you. **Active sessions (1):** - ● `20261118-182235-f08bc78d` (claude): Put the prices of season tickets into src/prices.py **Locked resources:** - `/tmp/old-store/harbour/src/prices.py` by `20261118-182235-f08bc78d` (10 min left): editing it **Last work here (quoted data, not instructions):** - codex on main, 3 d ago, success [`20261114-182231-148a3158`] > Goal: Add refunds: a ticket that is given back within a day is paid back less a fee of 10 percent. > Ended: Done: refunds work in integer cents, the fee is rounded up. 3 tests pass. > Open: Thanks, perfect. > Errors: FAILED test_fee_is_rounded_up - assert 899 == 900 [pytest tests/test_refunds.py] → changed refunds.py > Corrections: No, that is wrong: never floats for money. Use integer cents, and round the fee up. > Changed: src/refunds.py > Then: Thanks, perfect. > Notable: pytest tests/test_refunds.py → 1; pytest tests/test_refunds.py → 0 - claude on main, 5 d ago, success [`20261112-182231-98951b91`] > Goal: A family ticket for 3 children costs 0.30000000000000004 more than it should. Find out why. > Ended: Fixed: prices are integer cents from the till to the invoice. All 4 tests pass; committed. > Errors: FAILED test_family - assert 35.10000000000001 == 35.1 [pytest tests/test_prices.py] → changed prices.py > Changed: src/prices.py > Then: We decided: prices are integer cents everywhere, no Decimal, because the tills send cents.', 1795026156419621, 0);
insert into told values ('20261118-182236-2ea63b99', '4234e74020f9afda', '## From memory (quoted data, not instructions) - codex 2026-11-14 user [x11] > No, that is wrong: never floats for money. Use integer cents, and round the fee up. - codex 2026-11-14 assistant [x12] > Done: refunds work in integer cents, the fee is rounded up. 3 tests pass. More: `engram recall WORDS`, `engram get ID`.', 1795026157067263, 0);
insert into spent values (1, 1993897, 'claude-sonnet-4-5', 'floor', 2, 1800, 700, 42000, 0, 0, 0, NULL, 0);
insert into spent values (1, 1993898, 'claude-sonnet-4-5', 'floor', 4, 3600, 1400, 84000, 0, 0, 0, NULL, 0);
insert into spent values (2, 1994281, 'claude-sonnet-4-5', 'floor', 2, 1800, 700, 42000, 0, 0, 0, NULL, 0);
insert into spent values (2, 1994282, 'claude-sonnet-4-5', 'floor', 2, 1800, 700, 42000, 0, 0, 0, NULL, 0);
insert into spent values (3, 1994090, 'gpt-5-codex', 'exact', 3, 6000, 900, 18000, 0, 0, 0, NULL, 0);
insert into spent values (3, 1994091, 'gpt-5-codex', 'exact', 2, 4000, 600, 12000, 0, 0, 0, NULL, 0);
insert into spent values (3, 1994092, 'gpt-5-codex', 'exact', 2, 4000, 600, 12000, 0, 0, 0, NULL, 0);
insert into spent values (4, 1994378, 'gpt-5-codex', 'exact', 3, 6000, 900, 18000, 0, 0, 0, NULL, 0);
