"""What fills a seat, from whatever somebody says: an instance, a class, its name, options."""

import re
import sys

import pytest

from moot.config.settings import ConfigError, load_settings
from moot.minds.choosing import UnusableMind, chosen, named
from moot.plan import Plan
from moot.protocols.kernel.seats import Seat
from moot.protocols.research.seats import CRITIC
from moot.simulation.simulate import DEFAULT_START
from tests.doubles.own_minds import Lenient, Needs, NoMind, Speechless

HERE = "tests.doubles.own_minds"


@pytest.mark.parametrize(
    ("source", "score"),
    [
        (Lenient(0.3), 0.3),
        (Lenient, 0.1),
        (f"{HERE}:Lenient", 0.1),
        ({"module": f"{HERE}:Lenient", "score": 0.2}, 0.2),
    ],
)
def test_a_mind_is_given_as_instance_class_name_or_table(source, score):
    found = chosen({"critic": source})[CRITIC]
    assert (found.name, found.mind.score, found.timeout_s) == (f"{HERE}:Lenient", score, 60.0)
    assert chosen({"critic": found})[CRITIC] is found, "what was chosen before passes as it is"


@pytest.mark.parametrize("name", ["simulated", "silent"])
def test_the_minds_that_moot_brings_have_names(name):
    assert chosen({"critic": name}) == {CRITIC: (name, None, 60.0, None)}


def test_a_model_fills_a_seat_by_its_name_with_what_it_is_called_with():
    found = chosen({"critic": {"model": "local", "temperature": 0.3, "max_tokens": 800}})
    assert (found[CRITIC].name, found[CRITIC].mind) == ("local", None)
    assert found[CRITIC].model.model == "local"
    assert found[CRITIC].model.options() == {"temperature": 0.3, "max_tokens": 800}
    assert named(found) == {"critic": {"model": "local", "temperature": 0.3, "max_tokens": 800}}


def test_one_s_own_class_has_options_of_any_name():
    taken = {"module": f"{HERE}:Takes", "temperature": 0.3, "max_tokens": 9, "tone": "kind"}
    mind = chosen({"critic": taken})[CRITIC].mind
    assert mind.options == {"temperature": 0.3, "max_tokens": 9, "tone": "kind"}


def test_an_answer_s_limit_is_said_by_the_class_or_the_table():
    assert chosen({"critic": f"{HERE}:Hangs"})[CRITIC].timeout_s == 0.2
    assert chosen({"critic": {"module": f"{HERE}:Hangs", "timeout_s": 5}})[CRITIC].timeout_s == 5.0


class Timeless(Lenient):
    timeout_s = float("inf")


@pytest.mark.parametrize(
    ("source", "why"),
    [
        ("nowhere.minds:M", "minds.critic: there is no module 'nowhere': install it, or start where"),
        (f"{HERE}.deep:M", "minds.critic: there is no module 'tests.doubles.own_minds.deep'"),
        (f"{HERE}:Lenent", f"minds.critic: {HERE} has no Lenent; it has Async, Exits, Hangs, Lenient"),
        (f"{HERE}:NoMind", f"minds.critic: {HERE}:NoMind is no Mind: write class NoMind(moot.Mind)"),
        (f"{HERE}:assessment", "assessment is no Mind"),
        (NoMind, "NoMind is no Mind"),
        (Speechless, f"{HERE}:Speechless has no method answer(self, view)"),
        (Needs, f"minds.critic: {HERE}:Needs needs the option 'tone'"),
        ({"module": f"{HERE}:Needs", "tune": 1}, "takes no option 'tune'; it takes tone"),
        ({"module": f"{HERE}:Nothing", "tone": 1}, "takes no option 'tone'; it takes none"),
        (f"{HERE}:Refuses", "Refuses cannot be made: ValueError: a tone is needed"),
        ({"module": f"{HERE}:Lenient", "timeout_s": 0}, "minds.critic.timeout_s: "),
        (Timeless(), "timeout_s is a number of seconds above 0, up to 1800, not inf"),
        (
            {"tone": 1},
            "minds.critic: choose simulated, silent, a class as package.module:Class, or {model = ",
        ),
        ({"model": "local", "module": "simulated"}, "minds.critic: name a model or a module, not both"),
        (
            {"model": "local", "tone": 1},
            "minds.critic: a model's seat takes temperature and max_tokens, not 'tone'",
        ),
        ({"model": "local", "timeout_s": 9}, "minds.critic: timeout_s goes into [models.local]"),
        ({"model": "local", "temperature": 3}, "minds.critic.temperature: choose at most 2, not 3"),
        ({"model": "local", "max_tokens": 0}, "minds.critic.max_tokens: choose at least 1, not 0"),
        ({"module": "silent", "temperature": 0.3}, "minds.critic: silent takes no options"),
        ({"module": "simulated", "seed": 1}, "minds.critic: simulated takes no options"),
        (
            "clever",
            'minds.critic: choose simulated, silent, a class as package.module:Class, or {model = "NAME"}, not \'cle',
        ),
        (NoMind(), "minds.critic: NoMind is no kind of mind: choose simulated, silent, a class as"),
        (7, "minds.critic: int is no kind of mind: choose"),
    ],
)
def test_what_cannot_be_a_mind_is_one_line(source, why):
    with pytest.raises(UnusableMind) as caught:
        chosen({"critic": source})
    assert why in str(caught.value)
    assert "\n" not in str(caught.value)
    assert isinstance(caught.value, ConfigError), "the command line knows it"


@pytest.mark.parametrize(
    ("seat", "why"),
    [
        ("critc", "there is no seat 'critc': did you mean critic?"),
        ("admin", "the seat 'admin' is for people: choose advocate"),
        ("viewer", "the seat 'viewer' is for people"),
        ("referee", "the seat 'referee' is an officer's, which is code"),
        (7, "there is no seat '7'"),
    ],
)
def test_a_seat_that_cannot_be_given_is_one_line(seat, why):
    with pytest.raises(UnusableMind, match=r"^minds: ") as caught:
        chosen({seat: "silent"})
    assert why in str(caught.value)


def test_where_few_seats_speak_the_others_cannot_be_given():
    with pytest.raises(UnusableMind, match="the seat 'critic' has no say here: choose reviewer"):
        chosen({"critic": "silent"}, {Seat("reviewer")})


def test_a_module_in_the_working_directory_is_found(tmp_path, monkeypatch):
    (tmp_path / "my_first_critic.py").write_text(
        "from moot.minds import Mind\nclass Mine(Mind):\n    def answer(self, view): return None\n"
    )
    monkeypatch.setattr(sys, "path", [one for one in sys.path if one])
    monkeypatch.chdir(tmp_path)
    try:
        assert named(chosen({"critic": "my_first_critic:Mine"})) == {"critic": "my_first_critic:Mine"}
    finally:
        sys.modules.pop("my_first_critic", None)


def test_a_module_that_fails_is_told_by_its_own_error(tmp_path, monkeypatch):
    (tmp_path / "my_broken_critic.py").write_text("import a_library_that_is_not_there\n")
    monkeypatch.setattr(sys, "path", [one for one in sys.path if one])
    monkeypatch.chdir(tmp_path)
    with pytest.raises(
        UnusableMind, match="my_broken_critic cannot be imported: ModuleNotFoundError: No mod"
    ):
        chosen({"critic": "my_broken_critic:Mine"})


def test_a_module_that_ends_the_program_is_told_so(tmp_path, monkeypatch):
    (tmp_path / "my_script.py").write_text("import sys\nsys.exit(3)\n")
    monkeypatch.setattr(sys, "path", [one for one in sys.path if one])
    monkeypatch.chdir(tmp_path)
    with pytest.raises(UnusableMind, match="my_script cannot be imported: SystemExit: 3"):
        chosen({"critic": "my_script:Mine"})


def plan(configured, given):
    return Plan(settings=load_settings(minds=configured), seed=1, start=DEFAULT_START, minds=given)


def test_a_plan_takes_minds_over_those_of_the_configuration():
    configured = {"critic": {"module": f"{HERE}:Lenient", "score": 0.5}, "evolver": "silent"}
    assert plan(configured, {}).chosen[CRITIC].mind.score == 0.5
    both = plan(configured, {"critic": Needs("kind")}).chosen
    assert both[CRITIC].mind.tone == "kind"
    assert both[Seat("evolver")].name == "silent"


def test_a_fault_names_the_file_in_which_the_mind_stands(tmp_path, monkeypatch):
    file = tmp_path / "my-society.toml"
    file.write_text('[minds]\ncritic = "nowhere:M"\nevolver = "nowhere:M"\n')
    monkeypatch.setenv("MOOT_MINDS__EVOLVER", "elsewhere:M")
    minds = load_settings(file).minds
    with pytest.raises(UnusableMind, match=re.escape(f"{file}: minds.critic: there is no module 'nowhere'")):
        chosen({"critic": minds["critic"]})
    with pytest.raises(UnusableMind, match=r"^minds\.evolver: there is no module 'elsewhere'"):
        chosen({"evolver": minds["evolver"]})


class Telling(Lenient):
    def __init__(self, key):
        raise ValueError(f"{key} opens nothing")


def test_a_secret_among_the_options_is_not_told():
    key = "sk-proj-" + "a1B2c3D4" * 5
    with pytest.raises(UnusableMind, match="opens nothing") as caught:
        chosen({"critic": {"module": f"{__name__}:Telling", "key": key}})
    assert key not in str(caught.value)
    with pytest.raises(UnusableMind, match="choose simulated") as caught:
        chosen({"critic": key})
    assert key[:20] not in str(caught.value)


def test_a_warm_up_leaves_the_seats_of_models_to_simulated_minds():
    models = {"local": {"url": "http://127.0.0.1:9/v1", "model": "m"}}
    settings = load_settings(models=models, minds={"critic": {"model": "local"}, "evolver": "silent"})
    plan = Plan(settings=settings, seed=1, start=DEFAULT_START, is_warm_up=True)
    assert named(plan.chosen) == {"evolver": "silent"}
    assert not plan.model_seats.models


def test_no_plan_is_made_of_minds_that_cannot_be_used():
    with pytest.raises(UnusableMind, match="no module 'nowhere'"):
        plan({"critic": "nowhere:M"}, {})
    with pytest.raises(UnusableMind, match="no module 'nowhere'"):
        plan({}, {"critic": "nowhere:M"})


def test_the_log_names_classes_and_keeps_their_options_out():
    settings = load_settings(minds={"critic": {"module": f"{HERE}:Lenient", "score": 0.5}})
    assert settings.as_log()["minds"] == {"critic": f"{HERE}:Lenient"}
