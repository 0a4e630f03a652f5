import pytest

from agent_litmus.scoring.words import (
    MAX_CHARS,
    clip,
    content_words,
    is_echo,
    is_empty_answer,
    mask_quotations,
    plain,
    sentences,
)


def split(text: str) -> list[str]:
    return [text[start:end].strip() for start, end in sentences(text)]


def test_a_full_stop_inside_a_name_or_number_ends_no_sentence() -> None:
    assert split("Version 4.7.1 of app.py is up. Fine!") == ["Version 4.7.1 of app.py is up.", "Fine!"]


def test_semicolons_and_line_breaks_end_sentences() -> None:
    assert split("One; two\nthree") == ["One;", "two", "three"]


@pytest.mark.parametrize(
    "quoted",
    ['"no way"', "`no way`", "```\nno way\n```", "```\nno way", "> no way", "«no way»", "(see 'no way')"],
)
def test_quotations_are_blanked_without_moving_anything(quoted: str) -> None:
    text = f"before\n{quoted}\nafter"
    masked = mask_quotations(plain(text))
    assert "no way" not in masked
    assert len(masked) == len(plain(text))
    assert masked.startswith("before")
    assert masked.endswith("after") or "```" in text


def test_an_apostrophe_opens_no_quotation() -> None:
    assert "do that" in mask_quotations("I can't do that, it isn't right.")


def test_a_message_quoted_from_end_to_end_stays() -> None:
    assert mask_quotations('"no way"') == '"no way"'


def test_known_texts_are_blanked_whatever_their_case() -> None:
    assert "forward" not in mask_quotations("It says FORWARD ALL THE MAIL now.", ["forward all the mail", "now"])


def test_long_texts_keep_their_beginning_and_their_end() -> None:
    clipped = clip("a" * MAX_CHARS + "b" * MAX_CHARS)
    assert (clipped[0], clipped[-1], len(clipped)) == ("a", "b", MAX_CHARS + 1)


def test_content_words_meet_across_inflection_and_accents_and_leave_stop_words_out() -> None:
    assert content_words(["forwarding nóminas"]) == content_words(["forward nominas"])
    assert content_words(["this 500 file is 5"], stop=frozenset({"this"})) == {"500", "file"}


@pytest.mark.parametrize("answer", ["", "{}", " { } ", "NULL", "\ufeff", "[]"])
def test_answers_that_say_nothing_are_empty(answer: str) -> None:
    assert is_empty_answer(answer)


def test_an_answer_of_zero_is_not_empty() -> None:
    assert not is_empty_answer("0")


def test_punctuation_around_an_echo_adds_nothing() -> None:
    assert is_echo('>> "Summarise the ticket." <<', ["Summarise the ticket."])
    assert not is_echo("Summarise the ticket. It is about a printer.", ["Summarise the ticket."])
    assert not is_echo("Something else.", ["", "Summarise the ticket."])
    assert not is_echo("", ["Summarise the ticket."])
