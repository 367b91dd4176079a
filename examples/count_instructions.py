"""Counts what the program of the sample executed.  Run it in the folder that has `samples`."""
# snippet count
import waymark

with waymark.open('samples/quicksort') as capture:
    for batch in capture.batches():
        ranges = batch[batch['kind'] == waymark.Kind.RANGE]
        print(ranges['count'].sum(), 'instructions')
    print(capture.counts().functions())
# end snippet
