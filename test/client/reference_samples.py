# Runs the samples of the reference without sending anything: the methods of the client check the names of their arguments.
import contextlib
import json
import os
import sys
from unittest.mock import MagicMock, patch

from switchyard.service import Service

with patch.object(Service, "_call", MagicMock()), patch("builtins.open", MagicMock()):
    with open(os.devnull, "w") as nowhere, contextlib.redirect_stdout(nowhere):
        for sample in json.load(sys.stdin):
            exec(compile(sample["code"], sample["name"], "exec"), {})
