"""`assent doctor` about a PostgreSQL server whose settings are not as they should be: one of the test's own."""

import contextlib
import socket
import struct
import tempfile
import threading
from pathlib import Path

from program import *

TOOL = Path(__file__).resolve().parents[2] / "tools/postgres-server"


class Pooler:
    """Stands before a server as a pooler would: it names a process of its own to whoever connects."""

    def __init__(self, path: str):
        self.path = path
        self.server = socket.create_server(("127.0.0.1", 0))
        self.port = self.server.getsockname()[1]
        threading.Thread(target=self.accept, daemon=True).start()

    def accept(self) -> None:
        while True:
            try:
                client, _ = self.server.accept()
            except OSError:
                return
            threading.Thread(target=self.serve, args=(client,), daemon=True).start()

    def serve(self, client: socket.socket) -> None:
        with client, socket.socket(socket.AF_UNIX) as upstream:
            upstream.connect(self.path)
            # A way without TLS: the request for it is answered with no.
            first = client.recv(8, socket.MSG_WAITALL)
            if first == struct.pack("!II", 8, 80877103):
                client.sendall(b"N")
                first = b""
            upstream.sendall(first)
            back = threading.Thread(target=self.forward, args=(upstream, client, True), daemon=True)
            back.start()
            self.forward(client, upstream, False)
            back.join()

    @staticmethod
    def forward(source: socket.socket, target: socket.socket, renames: bool) -> None:
        key = b"K" + struct.pack("!I", 12)
        with contextlib.suppress(OSError):
            while data := source.recv(65536):
                at = data.find(key) if renames else -1
                if at >= 0:
                    data = data[:at + 5] + struct.pack("!I", 999_999_999) + data[at + 9:]
                    renames = False
                target.sendall(data)
        with contextlib.suppress(OSError):
            target.shutdown(socket.SHUT_WR)


class DoctorTest(ProgramTest):
    @classmethod
    def setUpClass(cls):
        cls.folder = Path(tempfile.mkdtemp(prefix="assent-doctor-"))
        cls.addClassCleanup(shutil.rmtree, cls.folder, ignore_errors=True)
        # The server's user reads its key, nobody else.
        cls.folder.chmod(0o711)
        certificate, key = cls.folder / "server.crt", cls.folder / "server.key"
        subprocess.run(["openssl", "req", "-x509", "-newkey", "rsa:2048", "-nodes", "-days", "2", "-subj", "/CN=localhost",
                        "-addext", "subjectAltName=DNS:localhost", "-keyout", key, "-out", certificate],
                       check=True, capture_output=True)
        if os.geteuid() == 0:
            shutil.chown(key, "nobody", "nogroup")
        certificate.chmod(0o644)
        cls.certificate = certificate
        with socket.create_server(("127.0.0.1", 0)) as free:
            cls.port = free.getsockname()[1]
        cls.addClassCleanup(subprocess.run, [TOOL, "stop", cls.folder / "server"])
        subprocess.run([TOOL, "start", cls.folder / "server", "listen_addresses='127.0.0.1'", f"port={cls.port}", "ssl=on",
                        f"ssl_cert_file='{certificate}'", f"ssl_key_file='{key}'", "max_connections=45"], check=True)
        cls.socket_folder = (cls.folder / "server/url").read_text(encoding="utf-8").strip().split("host=")[1]
        cls.root_url = f"postgresql://assent@/postgres?host={cls.socket_folder}&port={cls.port}"

    def setUp(self):
        super().setUp()
        self.url = self.root_url
        self.addCleanup(self.sql, "ALTER SYSTEM RESET ALL", "SELECT pg_reload_conf()")

    def command(self, args, db=True):
        return [self.program, "--db", self.url, *map(str, args)]

    def sql(self, *texts: str) -> str:
        commands = [part for text in texts for part in ("--command", text)]
        return subprocess.run(["psql", "--no-psqlrc", "--quiet", "--no-align", "--tuples-only", "--set", "ON_ERROR_STOP=1",
                               *commands, "--dbname", self.root_url], text=True, check=True, capture_output=True).stdout

    def set(self, setting: str, value: str) -> None:
        self.sql(f"ALTER SYSTEM SET {setting} = {value}", "SELECT pg_reload_conf()")
        shown = value.strip("'")
        wait_until(lambda: self.sql(f"SHOW {setting}").strip() == shown, f"{setting} is {shown}")

    def check(self, name: str) -> dict:
        checks = {check["name"]: check for check in self.assent("--json", "doctor").json["checks"]}
        return checks[name]

    def assert_check(self, name: str, standing: str, words: str) -> None:
        check = self.check(name)
        self.assertIn(words, check["says"])
        self.assertEqual(check["standing"], standing, check["says"])
        if standing != "ok":
            self.assertTrue(check["next"], "it says what to do")

    def tcp(self, **parameters: str) -> str:
        listed = "".join(f"&{name}={value}" for name, value in parameters.items())
        return f"postgresql://assent@localhost:{self.port}/postgres?hostaddr=127.0.0.1{listed}"

    def test_a_server_as_it_should_be(self):
        self.ok("db", "migrate")
        self.assert_check("database", "ok", "PostgreSQL 15")
        self.assert_check("disk", "ok", "fsync on")
        self.assert_check("clock", "ok", "the server's is")
        self.assert_check("pooler", "ok", "none is between")
        self.assert_check("connections", "ok", "of 45 are open, which leaves room for 4 times the 10")

    def test_settings_that_lose_what_was_told_as_recorded(self):
        for setting, value, standing, words in (("fsync", "off", "missing", "fsync is off"),
                                                ("full_page_writes", "off", "missing", "full_page_writes is off"),
                                                ("synchronous_commit", "off", "missing", "synchronous_commit is off"),
                                                ("synchronous_commit", "local", "weak", "synchronous_commit is local")):
            with self.subTest(setting=setting, value=value):
                self.set(setting, value)
                self.assert_check("disk", standing, words)
                self.sql("ALTER SYSTEM RESET ALL", "SELECT pg_reload_conf()")
                wait_until(lambda: self.sql(f"SHOW {setting}").strip() == "on", "it is on again")

    def test_a_network_without_tls_and_a_certificate_that_nobody_checks(self):
        self.url = self.tcp(sslmode="disable")
        self.assert_check("connection", "missing", "not encrypted")
        self.url = self.tcp(sslmode="require")
        self.assert_check("connection", "weak", "nobody checks who answers (sslmode require)")
        self.url = self.tcp(sslmode="verify-full", sslrootcert=str(self.certificate))
        self.assert_check("connection", "weak", "the server's certificate checked, without a password")

    def test_a_role_that_lacks_rights_or_has_too_many(self):
        self.ok("db", "migrate")
        self.sql("DROP ROLE IF EXISTS poor", "DROP ROLE IF EXISTS rich", "CREATE ROLE poor LOGIN", "CREATE ROLE rich LOGIN",
                 "GRANT USAGE ON SCHEMA assent TO poor, rich", "GRANT SELECT ON ALL TABLES IN SCHEMA assent TO poor, rich",
                 "GRANT INSERT, UPDATE, DELETE ON ALL TABLES IN SCHEMA assent TO rich",
                 "GRANT USAGE ON SEQUENCE assent.approval_number TO rich")
        self.addCleanup(self.sql, "DROP OWNED BY poor, rich", "DROP ROLE poor, rich")
        self.assert_check("role", "weak", "assent is a superuser")
        self.url = self.root_url.replace("//assent@", "//poor@")
        self.assert_check("role", "missing", "poor may not do what work needs: DELETE on approval, ")
        self.assert_check("role", "missing", "USAGE on approval_number")
        self.sql("REVOKE EXECUTE ON ALL FUNCTIONS IN SCHEMA assent FROM PUBLIC")
        self.assert_check("role", "missing", "EXECUTE on append_rows")
        self.sql("GRANT EXECUTE ON ALL FUNCTIONS IN SCHEMA assent TO rich")
        self.url = self.root_url.replace("//assent@", "//rich@")
        self.assert_check("role", "weak", "rich may change what was recorded")
        self.sql("REVOKE UPDATE, DELETE ON ALL TABLES IN SCHEMA assent FROM rich",
                 "GRANT UPDATE ON assent.thread, assent.snapshot TO rich", "GRANT DELETE ON assent.approval TO rich",
                 "GRANT UPDATE, DELETE ON assent.runner, assent.ready TO rich")
        self.assert_check("role", "ok", "rich is no superuser")
        # A partition may be changed by itself.
        self.sql("GRANT DELETE ON assent.journal_3 TO rich")
        self.assert_check("role", "weak", "rich may change what was recorded")

    def test_too_few_connections_for_another_process(self):
        self.sql("DROP ROLE IF EXISTS few", "CREATE ROLE few LOGIN CONNECTION LIMIT 8")
        self.addCleanup(self.sql, "DROP ROLE few")
        self.url = self.root_url.replace("//assent@", "//few@")
        self.assert_check("connections", "weak", "of 8 are open, which leaves no room for a process that may open 10")

    def test_a_pooler_that_the_address_does_not_name(self):
        pooler = Pooler(f"{self.socket_folder}/.s.PGSQL.{self.port}")
        self.addCleanup(pooler.server.close)
        self.url = f"postgresql://assent@127.0.0.1:{pooler.port}/postgres?sslmode=disable"
        self.assert_check("pooler", "weak", "one is between")
        # What the server sees of the pooler is a socket; what goes to the pooler is not.
        self.assert_check("connection", "missing", "not encrypted")
        self.url += "&pooler=transaction"
        self.assert_check("pooler", "ok", "one is between, as the address says")
        self.url = f"{self.root_url}&pooler=transaction"
        self.assert_check("pooler", "weak", "none is between, though the address says so")

    def test_what_cannot_be_reached_is_said_once(self):
        self.url = self.root_url.replace(f"port={self.port}", "port=1")
        told = self.assent("--json", "doctor")
        self.assert_status(told, 1)
        checks = {check["name"]: check for check in told.json["checks"]}
        self.assertEqual(checks["database"]["standing"], "missing")
        self.assertNotIn("role", checks)


if __name__ == "__main__":
    unittest.main()
