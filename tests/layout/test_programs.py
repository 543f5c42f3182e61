"""The sentence that ends a run about tests that a missing program left out."""

from tests.support.programs import left_out


def test_tests_without_their_programs_are_counted() -> None:
    reasons = ["Skipped: needs nginx", "Skipped: needs Redis, nginx", "Skipped: only root can mount a disk image"]
    assert left_out(reasons) == (
        "2 tests were left out for want of Redis, nginx. On Debian this installs all: "
        "apt-get install --no-install-recommends redis-server nginx openssl"
    )
    assert left_out(reasons[2:]) == ""
