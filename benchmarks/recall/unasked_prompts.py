"""Everyday prompts to coding agents that should not get any context."""

from __future__ import annotations

# Written before any rule was tested on them.
GENERIC = tuple(
    line.strip()
    for line in """
go on
yes
ok, do it
continue
please continue with the next step
looks good, thanks
try again
undo that
stop
commit this
commit and push
commit the changes with a good message
open a pull request
run the tests
run the tests again and show me the output
fix the failing test
fix the failing tests please
the tests still fail, fix them
fix the lint errors
fix the type errors
why does this fail?
what does this error mean?
there is still an error
it does not work
that is not what I asked for
add a docstring to parse()
add tests for this function
write unit tests for the new code
add a test for the edge case
add error handling
add logging
add comments to the code
add type hints to this file
rename the variable x to count
rename this function
refactor this to be simpler
make it faster
clean up the code
remove the unused imports
remove the dead code
format the file
update the README
update the documentation
update the dependencies
explain this file
explain how this works
what does this function do?
show me the diff
show me the file
list the files in this directory
read the file and tell me what it does
create a new file for this
move this into its own module
split this function into smaller ones
use a dict instead of a list
use the new API instead
check whether it builds
build it and run it
review your changes
review the code for bugs
can you double check that?
what is the next step?
what have you changed so far?
do the same for the other files
make the button blue
let's do option 2
use the second approach
install the package
bump the version
revert the last commit
""".strip().splitlines()
)
