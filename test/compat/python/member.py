"""What the members of a consumer group in Python share: commands in, events out, as
JSON lines. A library gives a class with the commands as methods and poll()."""

import json
import queue
import sys
import threading


def event(name, **fields):
    print(json.dumps(dict(fields, event=name)), flush=True)


def record(partition, offset, value):
    event("record", partition=partition, offset=offset, value=value.decode())


def _read(commands):
    for line in sys.stdin:
        commands.put(json.loads(line))
    commands.put(None)


def serve(member):
    commands = queue.Queue()
    threading.Thread(target=_read, args=(commands,), daemon=True).start()
    event("ready")
    while True:
        try:
            c = commands.get(block=not member.joined())
        except queue.Empty:
            try:
                member.poll()
            except Exception as e:
                event("error", text=f"{type(e).__name__}: {e}")
            continue
        if c is None:
            return
        try:
            _obey(member, c)
        except Exception as e:
            event("error", text=f"{type(e).__name__}: {e}")


def _obey(member, c):
    do = c["do"]
    if do == "join":
        member.join(c)
    elif do == "commit":
        member.commit(c.get("async", False))
    elif do == "pause":
        member.pause(c["partition"])
        event("paused")
    elif do == "resume":
        member.resume(c["partition"])
        event("resumed")
    elif do == "seek":
        member.seek(c["partition"], c["offset"])
        event("sought")
    elif do == "position":
        event("position", offsets={str(p): o for p, o in member.position().items()})
    elif do == "leave":
        member.leave()
        event("left")
    else:
        raise ValueError(f"no command {do}")
