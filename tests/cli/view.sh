# SPDX-License-Identifier: MIT
# The server of `ingot view`: who gets an answer, what is handed out, and what hostile clients can do. How the page
# looks: tests/web.
"$ingot" sample model.gguf --layers 1 -q
"$ingot" split model.gguf -o set --max-tensors 6 -q
echo "not shared" >secret.gguf
mkdir page page/inner
echo '<!DOCTYPE html><p>page</p>' >page/index.html
echo 'export const one = 1;' >page/inner/module.js
echo 'key' >page/notes.txt
cp model.gguf $'a b%\xc3\xa9#.gguf'

expect_error 4 'No such file' "$ingot" view --page inner_page_that_is_not_there
expect_error 4 'no index.html' "$ingot" view --page page/inner
expect_error 4 'missing.gguf' "$ingot" view --page page missing.gguf
expect_error 3 'directory' "$ingot" view --page page page
# What the page could not open, and options that only this program would heed.
for name in ollama:llama3 ms:org/repo hf:org/repo:Q4_K_M 'https://example.org/model.gguf?key=secret'; do
  expect_error 2 "'ingot download'" "$ingot" view --page page "$name"
done
if "$ingot" view --help | grep -q -e --revision; then
  expect_error 2 'takes no such option' "$ingot" view --page page model.gguf --revision main
fi
if [[ -e /dev/full ]]; then
  expect 4 timeout 20 "$ingot" view --page page >/dev/full 2>errors
fi
# A page that anyone left beside an installed program.
mkdir -p there/bin web/page
cp page/index.html web/page
cp "$ingot" there/bin/ingot
expect_error 4 'neither installed beside the program nor built' there/bin/ingot view
rm -r there

# A browser that does not end, for --open.
mkdir path
cat >path/xdg-open <<'END'
#!/bin/sh
{
  echo "$1"
  grep SigIgn /proc/self/status
  cut -d ' ' -f 1,5 /proc/$$/stat | tr -d '\n'
} >opened
exec sleep 60
END
chmod +x path/xdg-open

first=$(ls set-*-of-*.gguf | head -n 1)
PATH="$PWD/path:$PATH" "$ingot" view --page page --open model.gguf "$first" $'a b%\xc3\xa9#.gguf' hf:org/repo/other.gguf >address &
server=$!
trap 'kill $server $(sed -n "3s/ .*//p" opened) 2>/dev/null || true' EXIT
for _ in $(seq 100); do
  [[ ! -s address ]] || break
  sleep 0.1
done
python '
import concurrent.futures, http.client, json, os, re, socket, sys, time
address = open("address").read().strip()
match = re.fullmatch(r"http://127\.0\.0\.1:(\d+)(/[0-9a-f]{32}/)", address)
port, root = int(match[1]), match[2]
own = {"Host": f"127.0.0.1:{port}"}

def ask(path, headers={}, method="GET", connection=None):
    client = connection or http.client.HTTPConnection("127.0.0.1", port, timeout=30)
    client.putrequest(method, path, skip_host=True, skip_accept_encoding=True)
    for name, value in {**own, **headers}.items():
        if value is not None:
            client.putheader(name, value)
    client.endheaders()
    answer = client.getresponse()
    return answer.status, answer.headers, answer.read()

def raw(content, wait=True):
    with socket.create_connection(("127.0.0.1", port), timeout=30) as client:
        try:
            client.sendall(content)
            return client.recv(1 << 16) if wait else b""
        except ConnectionError:
            return b""

# The browser that was started is told the address, in a group of its own, and with the usual signals (SIGPIPE is 13).
if os.path.exists("/proc/self/status"):
    lines = []
    while len(lines) < 3 or not lines[2]:
        lines = open("opened").read().split("\n") if os.path.exists("opened") else []
        time.sleep(0.05)
    assert lines[0] == address and int(lines[1].split()[1], 16) & (1 << 12) == 0, lines
    assert len(set(lines[2].split())) == 1, lines

# The page, its parts, and what every answer says.
status, headers, content = ask(root)
assert (status, content) == (200, open("page/index.html", "rb").read())
assert headers["Content-Type"] == "text/html; charset=utf-8"
for name, value in {"Cross-Origin-Resource-Policy": "same-origin", "X-Content-Type-Options": "nosniff",
                    "Referrer-Policy": "no-referrer", "Cache-Control": "no-store"}.items():
    assert headers[name] == value, (name, headers[name])
assert "frame-ancestors" in headers["Content-Security-Policy"]
assert "Access-Control-Allow-Origin" not in headers
assert ask(root + "inner/module.js")[1]["Content-Type"] == "text/javascript; charset=utf-8"
assert ask(root + "notes.txt")[0] == 404  # no kind of file that a page has

# The models: those that were named, and the rest of the set.
models = json.loads(ask(root + "models.json")[2])
assert [model["name"] for model in models] == ["model.gguf", sys.argv[1], "a b%\u00e9#.gguf", "hf:org/repo/other.gguf"]
assert models[3]["address"] == "hf:org/repo/other.gguf"
whole = open("model.gguf", "rb").read()
size = len(whole)
for number in (0, 2):
    assert ask(root + models[number]["address"])[2] == whole
second = models[1]["address"].replace("-00001-", "-00002-")
assert ask(root + second)[2] == open(sys.argv[1].replace("-00001-", "-00002-"), "rb").read()
model = root + models[0]["address"]
for text, first, last in (("0-3", 0, 3), (f"{size - 4}-", size - 4, size - 1), ("-7", size - 7, size - 1),
                          (f"5-{10 * size}", 5, size - 1), (f"-{2 * size}", 0, size - 1)):
    status, headers, content = ask(model, {"Range": f"bytes={text}"})
    assert status == 206 and content == whole[first:last + 1], text
    assert headers["Content-Range"] == f"bytes {first}-{last}/{size}", text
for text in (f"{size}-", "4-3", "-", "-0", "a-b", "1-2,4-5", "18446744073709551616-", "-1-2", "+1-2"):
    status, headers, content = ask(model, {"Range": f"bytes={text}"})
    assert (status, content) == (416, b""), text
status, headers, content = ask(model, method="HEAD")
assert (status, headers["Content-Length"], content) == (200, str(size), b"")
# One connection for many requests, several at once on it, and several connections.
client = http.client.HTTPConnection("127.0.0.1", port, timeout=30)
for _ in range(20):
    assert ask(model, {"Range": "bytes=0-9"}, connection=client)[2] == whole[:10]
client.close()
one = f"HEAD {root} HTTP/1.1\r\nHost: 127.0.0.1:{port}\r\n\r\n".encode()
with socket.create_connection(("127.0.0.1", port), timeout=30) as client:
    client.sendall(one * 5)
    answers = b""
    while answers.count(b"200 OK") < 5:
        answers += client.recv(1 << 16)
with concurrent.futures.ThreadPoolExecutor(12) as pool:
    assert all(answer[2] == whole for answer in pool.map(lambda _: ask(model), range(48)))

# Without the token there is nothing, whatever is asked for, and no path leads out of the list.
other = ("0" if root[1] != "0" else "1") + root[2:]
for path in ("/", "/models.json", root[:-1], "/" + other, root[:-2] + "/", "/" + "0" * 32 + "/", root.upper(),
             root + "secret.gguf", root + "../secret.gguf", root + "models/0/../../secret.gguf",
             root + "models/0/%2e%2e/secret.gguf", root + "/etc/passwd", root + "..%2f..%2fsecret.gguf",
             root + "index.html", root + "?", root + "models/0/secret.gguf", root + "models/1/model.gguf"):
    assert ask(path)[::2] == (404, b""), path

# Another page of the same browser, or a name that was made to lead here.
site = f"http://127.0.0.1:{port}"
for headers in ({"Host": "evil.example"}, {"Host": f"evil.example:{port}"}, {"Host": "127.0.0.1"}, {"Host": None},
                {"Host": f"127.0.0.1:{port}.evil.example"}, {"Origin": "http://evil.example"}, {"Origin": "null"},
                {"Origin": f"http://127.0.0.1:{port + 1}"}, {"Origin": f"http://localhost:{port}"}, {"Origin": site.upper()},
                {"Sec-Fetch-Site": "cross-site"}, {"Sec-Fetch-Site": "same-site"}):
    assert ask(model, headers)[::2] == (403, b""), headers
for headers in ({"Host": f"localhost:{port}"}, {"Origin": site}, {"Sec-Fetch-Site": "same-origin"},
                {"Sec-Fetch-Site": "none"}):
    assert ask(model, headers)[0] == 200, headers
for method in ("POST", "PUT", "DELETE", "OPTIONS", "TRACE", "get"):
    status, headers, _ = ask(model, method=method)
    assert (status, headers["Allow"]) == (405, "GET, HEAD"), method

# Another user, who has seen the address: on Linux, where a test of root can become one.
if sys.platform == "linux" and os.getuid() == 0:
    child = os.fork()
    if child == 0:
        os.setuid(65534)
        try:
            status = 10 if ask(model)[0] == 200 else 11
        except (http.client.RemoteDisconnected, ConnectionError):
            status = 0
        os._exit(status)
    assert os.waitpid(child, 0)[1] == 0, "another user gets an answer"

# What is no request.
line = f"GET {root} HTTP/1.1\r\n".encode()
host = f"Host: 127.0.0.1:{port}\r\n".encode()
for content in (b"\r\n\r\n", b"GET\r\n\r\n", line + b"\r\n" + host, b"\x16\x03\x01\x02\x00" * 40 + b"\r\n\r\n",
                line + host + host + b"\r\n", line + host + b" folded: 1\r\n\r\n", line + host + b"a\x00b: 1\r\n\r\n",
                line + host + b"no colon\r\n\r\n", line + host + b": empty\r\n\r\n", line + host + b"a : b\r\n\r\n",
                line + host + b"Content-Length: 5\r\n\r\nhello", line + host + b"Transfer-Encoding: chunked\r\n\r\n",
                f"GET {root} HTTP/2.0\r\n".encode() + host + b"\r\n", f"GET  {root} HTTP/1.1\r\n".encode() + host + b"\r\n",
                f"GET {root}\tx HTTP/1.1\r\n".encode() + host + b"\r\n", line + b"Host\r\n: x\r\n\r\n"):
    answer = raw(content)
    assert answer.startswith((b"HTTP/1.1 400 ", b"HTTP/1.1 403 ")), (content, answer)
long = line + host + b"a: " + b"x" * 9000
assert raw(long + b"\r\n\r\n").startswith(b"HTTP/1.1 431 ") and raw(long).startswith(b"HTTP/1.1 431 ")
assert raw(line + host + b"a: " + b"x" * 7000 + b"\r\n\r\n").startswith(b"HTTP/1.1 200 ")

# Clients that say nothing, or read nothing, do not keep others out; who says nothing is sent away.
silent = [socket.create_connection(("127.0.0.1", port), timeout=30) for _ in range(100)]
greedy = [socket.create_connection(("127.0.0.1", port), timeout=30) for _ in range(10)]
for client in greedy:
    client.sendall(f"GET {model} HTTP/1.1\r\n".encode() + host + b"\r\n")
began = time.monotonic()
assert ask(model)[2] == whole and time.monotonic() - began < 5
slow = socket.create_connection(("127.0.0.1", port), timeout=30)
began = time.monotonic()
try:
    while time.monotonic() - began < 25:
        slow.sendall(b"G")
        time.sleep(0.5)
    raise AssertionError("a head may take forever")
except ConnectionError:
    pass
assert ask(model, {"Range": "bytes=0-0"})[2] == whole[:1]
for client in (*silent, *greedy, slow):
    client.close()
# A file that becomes shorter: its bytes lack, and the server goes on.
open("model.gguf", "r+b").truncate(1000)
try:
    ask(model)
    raise AssertionError("a whole answer of a file that was cut")
except (http.client.IncompleteRead, ConnectionError):
    pass
assert ask(root)[0] == 200
' "$first"
kill -INT "$server"
expect 130 wait "$server"
kill "$(sed -n '3s/ .*//p' opened)" 2>/dev/null || true
port=$(sed 's/.*:\([0-9]*\).*/\1/' address)
mkdir other
cp secret.gguf other/model.gguf
"$ingot" view --page page --port "$port" --json set-*-of-*.gguf model.gguf other/model.gguf >again.json &
server=$!
for _ in $(seq 100); do
  [[ ! -s again.json ]] || break
  sleep 0.1
done
python '
import json, sys, urllib.request
address = json.load(open("again.json"))["address"]
assert f":{sys.argv[1]}/" in address and address != open("address").read().strip()
# A set is one model, and models of the same name are told apart.
models = json.load(urllib.request.urlopen(address + "models.json"))
assert [model["name"] for model in models] == [sys.argv[2], "model.gguf", "other/model.gguf"], models
' "$port" "$first"
expect_error 4 "$port" "$ingot" view --page page --port "$port"
kill -TERM "$server"
expect 143 wait "$server"
