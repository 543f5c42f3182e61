"""`python -m generator` is `cardpress`."""

from generator.cli import main

if __name__ == "__main__":  # a worker process that is started by spawning imports this module as well
    main()
