"""Runs the steps that come on standard input through python-tds and answers
each with a line on standard output."""

import json
import os
import socket
import sys
import threading
import traceback

import pytds

from values import cell, column, parameter, scaled, to_value

# Messages that follow USE, a login or a failed statement and say nothing new.
CONTEXT_CHANGES = (5701, 5703, 3621)


def connect(**more):
    """Connects as the environment says."""
    if os.environ["INTEROP_MODE"] != "plain":
        more.update(
            cafile=os.environ["INTEROP_CA"],
            validate_host=True,
            enc_login_only=os.environ["INTEROP_MODE"] == "login only",
        )
    return pytds.connect(
        dsn=os.environ["INTEROP_HOST"],
        port=int(os.environ["INTEROP_PORT"]),
        user=os.environ["INTEROP_USER"],
        password=os.environ["INTEROP_PASSWORD"],
        autocommit=True,
        login_timeout=60,
        **more,
    )


def error(e):
    """The error as an answer holds it."""
    return {"number": e.number, "level": e.severity, "state": e.state, "message": e.text}


class Session:
    """One connection and what the steps do with it."""

    def __init__(self):
        self.conn = connect()

    def run(self, step):
        return getattr(self, step["op"])(step)

    def query(self, call):
        """Runs call with a cursor and reads all that comes of it."""
        run = {"sets": [], "messages": [], "error": None}
        with self.conn.cursor() as cursor:
            try:
                call(cursor)
                while True:
                    if cursor.description:
                        run["sets"].append(read_set(cursor))
                    if not cursor.nextset():
                        break
            except pytds.Error as e:
                if getattr(e, "number", 0) == 0:
                    raise
                run["error"] = error(e)
            run["messages"] = [
                m.text for _, m in cursor.messages or () if m.number not in CONTEXT_CHANGES and m.severity <= 10
            ]
        return run

    def batch(self, step):
        return [self.query(lambda c: c.execute(step["sql"]))]

    def params(self, step):
        sql = step["sql"]
        for p in step["params"]:
            sql = sql.replace("@" + p["name"], "%(" + p["name"] + ")s")
        runs = []
        for row in step["rows"]:
            values = {p["name"]: parameter(p["type"], v) for p, v in zip(step["params"], row)}
            affected = []

            def execute(cursor, values=values, affected=affected):
                cursor.execute(sql, values)
                affected.append(cursor.rowcount)

            run = self.query(execute)
            if not run["sets"] and not run["error"]:
                run["affected"] = affected[0]
            runs.append(run)
        return runs

    def begin(self, _):
        self.conn.autocommit = False
        return []

    def commit(self, _):
        self.conn.commit()
        self.conn.autocommit = True
        return []

    def save(self, step):
        return [self.query(lambda c: c.execute(f"SAVE TRANSACTION [{step['name']}]"))]

    def rollback(self, step):
        if step.get("name"):
            return [self.query(lambda c: c.execute(f"ROLLBACK TRANSACTION [{step['name']}]"))]
        self.conn.rollback()
        self.conn.autocommit = True
        return []

    def timeout(self, step):
        """python-tds sends an attention when its time-out ends a query."""
        with connect(timeout=1) as conn, conn.cursor() as cursor:
            try:
                cursor.execute(step["sql"])
            except pytds.TimeoutError:
                cursor.execute("SELECT 1")
                return [{"cancelled": cursor.fetchall() == [(1,)]}]
        raise RuntimeError("the statement was not cancelled")

    def kill(self, step):
        wire = socket.create_connection((os.environ["INTEROP_HOST"], int(os.environ["INTEROP_PORT"])))
        victim = connect(sock=wire)
        cursor = victim.cursor()
        cursor.execute(step["sql"])
        failed = threading.Event()

        def hang():
            try:
                cursor.execute(step["then"])
            except Exception:  # whatever a cut connection is to the driver
                failed.set()

        thread = threading.Thread(target=hang)
        thread.start()
        wire.shutdown(socket.SHUT_RDWR)
        thread.join()
        if not failed.is_set():
            raise RuntimeError("the statement of a cut connection succeeded")
        return []

    def connects(self, step):
        for _ in range(step["times"]):
            connect().close()
        return []

    def bulk(self, step):
        columns = [column(p) for p in step["params"]]
        rows = [[to_value(p["type"], v) for p, v in zip(step["params"], row)] for row in step["rows"]]
        schema, table = step["name"].split(".")
        with self.conn.cursor() as cursor:
            count = cursor.copy_to(data=rows, columns=columns, table_or_view=table, schema=schema)
        return [{"affected": len(rows) if count is None else count}]

    def tvp(self, step):
        rows = [[to_value(p["type"], v) for p, v in zip(step["params"], row)] for row in step["rows"]]
        table = pytds.TableValuedParam(step["type"], [column(p) for p in step["params"]], rows)
        sql = step["sql"].replace("@rows", "%(rows)s")
        return [self.query(lambda c: c.execute(sql, {"rows": table}))]

    def call(self, step):
        values = {}
        for p, v in zip(step["params"], step["rows"][0]):
            value = to_value(p["type"], v)
            if p.get("output"):
                value = pytds.output(value=value, param_type=p["type"])
            values["@" + p["name"]] = value
        run = {"sets": [], "messages": [], "outputs": {}}
        with self.conn.cursor() as cursor:
            cursor.callproc(step["name"], values)
            while True:
                if cursor.description:
                    run["sets"].append(read_set(cursor))
                if not cursor.nextset():
                    break
            run["status"] = cursor.get_proc_return_status()
            # get_proc_outputs fails unless the first parameters are the outputs.
            for p in cursor._session.output_params.values():
                run["outputs"][p.column_name.lstrip("@")] = None if p.value is None else str(p.value)
        return [run]


def read_set(cursor):
    columns = [c[0] for c in cursor.description]
    scales = [scaled(c) for c in cursor.description]
    rows = [[cell(v, c) for v, c in zip(row, scales)] for row in cursor.fetchall()]
    return {"columns": columns, "rows": rows}


def main():
    sys.stdin.reconfigure(encoding="utf-8")
    sys.stdout.reconfigure(encoding="utf-8")
    session = Session()
    for line in sys.stdin:
        try:
            answer = {"runs": session.run(json.loads(line))}
        except Exception:  # the test reports it
            answer = {"refused": traceback.format_exc()}
        print(json.dumps(answer, ensure_ascii=False), flush=True)


main()
