"""`python -m generator` is `cardpress`."""

from generator.cli import main

main()
