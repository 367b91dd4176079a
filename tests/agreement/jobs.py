"""Jobs over shards and slices: what their merge gives is read as the export is."""
import exports
from commands import rows_of
from sources import source

WHAT = {'counts': 'counts', 'bolt': 'profile', 'autofdo': 'profile', 'lcov': 'coverage', 'folded': 'stacks'}


class Merged:
    """A capture whose export is that of a job, cut into slices."""

    def __init__(self, capture, slices):
        self.capture = capture
        self.slices = slices

    def __getattr__(self, name):
        return getattr(self.capture, name)

    def result(self, command, form, *options, **_):
        return self.capture.merge(WHAT[form], form, self.slices, *options)

    def text(self, command, form, *options):
        return self.result(command, form, *options).out


@source('merge of slices, counts')
def merged_counts(capture, say):
    exports.say_counts(say, capture, rows_of(Merged(capture, 4).text('export', 'counts')))


@source('merge of a shard, counts')
def merged_counts_of_one(capture, say):
    exports.say_counts(say, capture, rows_of(Merged(capture, 1).text('export', 'counts')))


@source('merge of slices, bolt', needs={'functions'})
def merged_bolt(capture, say):
    exports.export_bolt(Merged(capture, 4), say)


@source('merge of slices, autofdo', needs={'functions', 'a64'})
def merged_autofdo(capture, say):
    exports.export_autofdo(Merged(capture, 4), say)


@source('merge of slices, lcov', needs={'lines'})
def merged_lcov(capture, say):
    exports.export_lcov(Merged(capture, 4), say)


@source('merge of a shard, folded', needs={'functions'}, stacks=True)
def merged_folded(capture, say):
    exports.export_folded(Merged(capture, 1), say)
