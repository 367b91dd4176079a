"""A copy of a board's /sys/bus/coresight/devices: plain files."""

UNIT = {
    'trcidr/trcidr0': '0x28000ea1', 'trcidr/trcidr1': '0x4100f403', 'trcidr/trcidr2': '0x488',
    'trcidr/trcidr3': '0xd7b0004', 'trcidr/trcidr4': '0x11170004', 'trcidr/trcidr5': '0x28c7081e',
    'mgmt/trcdevarch': '0x47704a13', 'mgmt/trcconfig': '0x1', 'mgmt/trctraceid': '0x10',
    'cpu': '0', 'enable_source': '0', 'mode': '0x8000000', 'syncfreq': '0xc',
    **dict.fromkeys(('event_vinst', 'cyc_threshold', 'bb_ctrl', 'event_ts', 'addr_idx', 'addr_range', 'addr_start',
                     'addr_stop', 's_exlevel_vinst', 'ns_exlevel_vinst', 'res_idx', 'res_ctrl'), '0x0'),
}
SINK = {'buffer_size': '0x100000', 'enable_sink': '0'}


def make_tree(folder):
    """An ETMv4 `etm0` of CPU 0 that is off, and a sink `tmc_etr0`."""
    for unit, files in (('etm0', UNIT), ('tmc_etr0', SINK)):
        for name, value in files.items():
            path = folder / unit / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(value + '\n')
    return folder
