import re
from io import BytesIO

import pytest
from PIL import Image, ImageChops, ImageStat

from moot.channels.showing.avatars import PLACE, avatar, emoji_name
from moot.channels.showing.looks import MOOT, looks
from moot.protocols.rulebook import rulebook

SEATS = [*rulebook().seats, None]


def picture(seat, side=128, on=(49, 51, 56)):
    drawn = Image.open(BytesIO(avatar(seat))).convert("RGBA")
    ground = Image.new("RGBA", drawn.size, (*on, 255))
    ground.alpha_composite(drawn)
    return ground.convert("RGB").resize((side, side), Image.Resampling.LANCZOS)


@pytest.mark.parametrize("seat", SEATS)
def test_a_picture_is_a_small_square_png_in_the_colour_of_the_seat(seat):
    content = avatar(seat)
    drawn = Image.open(BytesIO(content))
    assert (drawn.format, drawn.size) == ("PNG", (128, 128))
    assert len(content) < 256 * 1024
    colour = (looks()[seat] if seat else MOOT).colour
    counted = drawn.convert("RGBA").getcolors(128 * 128)
    solid = sorted(((n, rgba[:3]) for n, rgba in counted if rgba[3] == 255), reverse=True)[:2]
    assert {rgb for _, rgb in solid} == {tuple(bytes.fromhex(colour[1:])), (255, 255, 255)}
    assert drawn.convert("RGBA").getpixel((0, 0))[3] == 0, "the corners are clear"


def test_every_picture_is_of_a_seat_and_a_seat_without_one_shows_the_societys():
    assert {path.stem for path in PLACE.glob("*")} == {*rulebook().seats, "society"}
    assert avatar("somebody") == avatar(None) == (PLACE / "society.png").read_bytes()


def test_the_signs_can_be_told_apart_at_32_pixels_without_their_colours():
    signs = {}
    for seat in SEATS:
        drawn = Image.open(BytesIO(avatar(seat))).convert("RGBA").resize((32, 32), Image.Resampling.LANCZOS)
        least = min(drawn.split()[:3], key=lambda band: ImageStat.Stat(band).mean[0])
        signs[seat] = least.point(lambda value: 255 if value > 180 else 0)
    for seat, sign in signs.items():
        assert 40 < ImageStat.Stat(sign).sum[0] / 255 < 500, seat
        for other, its in signs.items():
            if other != seat:
                assert ImageStat.Stat(ImageChops.difference(sign, its)).sum[0] / 255 > 60, (seat, other)


@pytest.mark.parametrize("on", [(49, 51, 56), (255, 255, 255)])
def test_no_two_pictures_look_alike_on_a_dark_or_a_light_page(on):
    drawn = {seat: picture(seat, 32, on) for seat in SEATS}
    for seat in SEATS:
        for other in SEATS:
            if other != seat:
                stat = ImageStat.Stat(ImageChops.difference(drawn[seat], drawn[other]))
                assert sum(stat.mean) > 12, (seat, other)


def test_emoji_names_are_ones_that_discord_takes():
    names = [emoji_name(seat) for seat in SEATS]
    assert "moot_critic" in names
    assert len(set(names)) == len(names)
    assert all(re.fullmatch(r"[a-zA-Z0-9_]{2,32}", name) for name in names)
