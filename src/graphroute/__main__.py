"""`python -m graphroute`."""

from graphroute.cli.main import main

if __name__ == "__main__":
    main()
