from moot.bots.tools.seeding import generator


def test_the_same_parts_give_the_same_stream_in_every_process():
    assert generator("sample", 7, "SIM-ALFA").integers(10**9, size=3).tolist() == [
        62658193,
        427296778,
        961356716,
    ]


def test_other_parts_give_another_stream():
    def first(*parts):
        return generator(*parts).random()

    assert (
        len({first("a", 1), first("a", 2), first("a", "1"), first("a1"), first("a", 1, "b"), first("b", 1)})
        == 6
    )
