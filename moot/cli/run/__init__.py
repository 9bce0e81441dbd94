"""Commands that run a society, or a page of one: until it is told to stop, in virtual time, or a scene."""
