"""`python -m ssdlab` is the command `ssdlab`."""

from ssdlab.cli import main

if __name__ == "__main__":
    main()
