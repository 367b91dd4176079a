"""Helpers of the tests of the programs.  conftest.py makes fixtures of them."""
