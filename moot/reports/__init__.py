"""Reports that people read: pages of HTML that stand alone, with drawings."""
