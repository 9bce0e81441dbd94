"""Which model takes which seats, and what it may spend, as somebody says over a configuration."""

import re
from decimal import Decimal

import pytest

from moot.bots.models.errors import NoKey, UnusableModel
from moot.config.budget import BudgetSettings
from moot.config.minds import MindSettings
from moot.config.settings import ConfigError, load_settings
from moot.minds.choosing import UnusableMind, chosen, named
from moot.minds.model_choice import KEY_VARIABLE, Wanted, models_told, unseated
from moot.protocols.kernel.seats import Seat
from tests.doubles.own_minds import Lenient

URL = "http://127.0.0.1:8080/v1"
THREE = (Seat("advocate"), Seat("critic"), Seat("judge"))
LOCAL = {"url": URL, "model": "qwen3:8b", "price": {"input": 1, "output": 2}}


@pytest.fixture(autouse=True)
def no_key(monkeypatch):
    monkeypatch.delenv(KEY_VARIABLE, raising=False)


def settings(**over):
    return load_settings(**({"models": {"local": LOCAL}, "minds": {}} | over))


def seated(given=None, minds=None, **wanted):
    return Wanted(**wanted).over(settings() if given is None else given, minds or {}, THREE)


def test_with_nothing_said_everything_is_as_configured():
    given = settings(
        minds={"critic": {"model": "local"}, "explorer": {"model": "local"}}, budget={"calls": 9}
    )
    found = seated(given)
    assert found.minds == {"critic": given.minds["critic"]}, "the explorer does not sit here"
    assert list(found.models) == ["local"]
    assert found.budget == BudgetSettings(calls=9)


def test_where_no_model_sits_the_log_says_nothing_of_models():
    found = seated(settings(budget={"calls": 9}))
    assert (found.models, found.budget) == ({}, BudgetSettings())


def test_a_model_takes_all_seats_or_those_that_are_named():
    assert {*seated(model="local").minds} == {*THREE}
    assert named(chosen(seated(model="local", seats=["critic"]).minds)) == {"critic": {"model": "local"}}


def test_what_is_said_goes_before_the_configuration_seat_by_seat():
    given = settings(minds={"critic": "silent", "judge": "silent"})
    found = seated(given, {"advocate": Lenient}, model="local", seats=["critic"]).minds
    assert found == {
        "critic": MindSettings(model="local"),
        "judge": MindSettings(module="silent"),
        "advocate": Lenient,
    }


def test_a_seat_with_a_mind_of_its_own_is_not_among_all_seats():
    assert seated(minds={"critic": "silent"}, model="local").minds["critic"] == "silent"


def test_a_model_is_given_by_its_address_and_its_name():
    found = seated(model=f"{URL}#Qwen/Qwen3:8b")
    (name,) = found.models
    assert name == "qwen-qwen3-8b"
    assert (found.models[name].url, found.models[name].model) == (URL, "Qwen/Qwen3:8b")
    assert found.models[name].key_env == ""
    assert found.settings.models.keys() == {"local", name}


def test_a_name_that_another_model_has_is_not_taken_from_it():
    given = settings(models={"qwen3-8b": {"url": "http://elsewhere:1/v1", "model": "qwen3:8b"}})
    found = seated(given, model=f"{URL}#qwen3:8b")
    assert list(found.models) == ["qwen3-8b-2"]
    again = seated(found.settings, model=f"{URL}#qwen3:8b")
    assert list(again.models) == ["qwen3-8b-2"], "the same model has the same name"


def test_a_model_is_given_as_a_mapping_with_what_it_is_called_with():
    found = seated(model={**LOCAL, "temperature": 0.3, "max_tokens": 800}, seats=["critic"], budget=0.1)
    assert found.minds["critic"].options() == {"temperature": 0.3, "max_tokens": 800}
    assert found.models["qwen3-8b"].price.output == 2


def test_the_key_stands_in_a_variable_never_on_the_command_line(monkeypatch):
    monkeypatch.setenv("MY_KEY", "sk-mine-and-longer")
    assert seated(model=f"{URL}#m", key_env="MY_KEY").models["m"].key_env == "MY_KEY"
    monkeypatch.setenv(KEY_VARIABLE, "sk-usual")
    assert seated(model=f"{URL}#m").models["m"].key_env == KEY_VARIABLE
    assert seated(model=f"{URL}#m", key_env="MY_KEY").models["m"].key_env == "MY_KEY"
    assert seated(model="local").models["local"].key_env == "", "a configured model has its own"


def test_a_key_that_is_missing_is_said_before_anything_starts():
    with pytest.raises(NoKey, match=r"models\.m: .*MY_MISSING_KEY"):
        seated(model=f"{URL}#m", key_env="MY_MISSING_KEY")
    given = settings(models={"local": {**LOCAL, "key_env": "MY_MISSING_KEY"}})
    assert seated(given).models == {}, "nobody calls it"
    with pytest.raises(NoKey):
        seated(given, {"critic": {"model": "local"}})


@pytest.mark.parametrize("usd", [2, 2.0, "2.00", Decimal("2")])
def test_a_budget_goes_before_the_configured_dollars_and_leaves_the_rest(usd):
    given = settings(budget={"usd": 50, "calls": 9, "day": {"usd": 1}, "on_exhausted": "simulated"})
    budget = seated(given, model="local", budget=usd).budget
    assert budget == BudgetSettings(usd=2, calls=9, day={"usd": 1}, on_exhausted="simulated")
    assert budget.as_log()["usd"] == "2"


def test_a_budget_as_a_mapping_is_the_whole_of_it():
    given = settings(budget={"usd": 50, "calls": 9})
    assert seated(given, model="local", budget={"tokens": 10}).budget == BudgetSettings(tokens=10)


def test_a_budget_of_dollars_needs_a_price_and_one_of_calls_does_not():
    given = settings(models={"free": {"url": URL, "model": "m"}})
    for over in ({"usd": 1}, {"day": {"usd": 1}}, {"seat": {"usd": 1}}, {"case": {"usd": 0}}):
        with pytest.raises(UnusableModel, match=r"^models\.free: a budget in US dollars needs its price"):
            seated(given, model="free", budget=over)
    assert seated(given, model="free", budget={"calls": 1, "case": {"tokens": 5}}).budget.calls == 1
    known = {"url": "https://api.openai.com/v1", "model": "gpt-4o-mini"}
    assert seated(model=known, budget=1).budget.usd == 1, "published"


@pytest.mark.parametrize(
    ("wanted", "why"),
    [
        ({"model": "locl"}, "there is no [models.locl]: did you mean local?"),
        ({"model": "127.0.0.1:8080/v1#m"}, "model: url: is an address such as http://127.0.0.1:8080/v1"),
        ({"model": URL}, "model: write URL#NAME, such as http://127.0.0.1:8080/v1#qwen3:8b"),
        ({"model": f"{URL}#"}, "model: write URL#NAME"),
        (
            {"model": "http://ann:pw@127.0.0.1/v1#m"},
            "model: url: holds nothing but the address: a key belongs",
        ),
        ({"model": {"url": URL}}, "model: model: is needed"),
        (
            {"model": {**LOCAL, "temprature": 1}},
            "model: temprature: there is no such field: did you mean temperature?",
        ),
        ({"model": {**LOCAL, "temperature": 9}}, "model: temperature: choose at most 2, not 9"),
        ({"model": 3}, 'model: give "URL#NAME", a configured name or a mapping, not an int'),
        ({"model": "local", "seats": ["critc"]}, "seats: there is no seat 'critc': did you mean critic?"),
        (
            {"model": "local", "seats": ["explorer"]},
            "seats: the seat 'explorer' has no say here: choose advocate",
        ),
        ({"model": "local", "seats": ["admin"]}, "seats: the seat 'admin' is for people"),
        (
            {"model": "local", "seats": ["judge"]},
            "seats: the judge has a mind already: leave one of the two out",
        ),
        ({"model": "local", "seats": []}, "seats: name a seat: advocate, critic, judge"),
        ({"model": "local", "seats": "critic"}, 'seats: give a list of seats, such as ["critic", "evolver"]'),
        ({"seats": ["critic"]}, "seats: name a model too, with model"),
        ({"key_env": "MY_KEY"}, "key_env: name a model too, with model"),
        (
            {"model": "local", "key_env": "MY_KEY"},
            "key_env: goes with URL#NAME: [models.local] has a key_env of its",
        ),
        (
            {"model": f"{URL}#m", "key_env": "sk-mine"},
            "key_env: is the name of an environment variable in capitals",
        ),
        ({"budget": 1}, "budget: no seat is filled by a model: name one with model"),
        ({"model": "local", "budget": "two"}, "budget: give a number, not 'two'"),
        ({"model": "local", "budget": -1}, "budget: choose at least 0, not -1"),
        ({"model": "local", "budget": "0.0000001"}, "budget: choose at most 6 decimal places, not 1E-7"),
        (
            {"model": "local", "budget": {"cals": 1}},
            "budget: cals: there is no such field: did you mean calls?",
        ),
    ],
)
def test_what_cannot_be_is_one_line(wanted, why):
    with pytest.raises(ConfigError) as caught:
        seated(minds={"judge": "silent"}, **wanted)
    assert str(caught.value).startswith(why)
    assert (
        "\n" not in str(caught.value) and "pw" not in str(caught.value) and "sk-mine" not in str(caught.value)
    )


def test_on_a_command_line_options_are_named_as_they_are_written():
    with pytest.raises(UnusableMind, match=re.escape("--key-env: name a model too, with --model")):
        seated(key_env="MY_KEY", is_typed=True)


def test_a_mind_that_names_no_configured_model_is_one_line():
    with pytest.raises(
        UnusableMind, match=re.escape("minds: there is no [models.locl]: did you mean local?")
    ):
        seated(minds={"critic": {"model": "locl"}})


def test_a_configuration_without_its_minds_keeps_its_models():
    given = unseated(settings(minds={"critic": {"model": "local"}}, budget={"usd": 1}))
    assert (seated(given).minds, given.budget.usd) == ({}, 1)


def test_one_line_says_which_seats_are_models_and_what_they_may_spend():
    found = seated(
        model="local", seats=["critic", "judge"], budget={"usd": 2, "day": {"usd": "0.125", "calls": 1}}
    )
    assert (
        models_told(chosen(found.minds), found.settings)
        == f"critic, judge: qwen3:8b at {URL}; budget $2.00, $0.125 a day, 1 call a day"
    )
    free = seated(model="local", seats=["critic"])
    assert models_told(chosen(free.minds), free.settings) == f"critic: qwen3:8b at {URL}; no budget"
    assert models_told(chosen({"critic": "silent"}), free.settings) == ""
