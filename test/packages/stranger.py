"""Uploads a video and publishes it, with Python's standard library. Arguments: BASE_URL API_KEY FILE"""

import json
import sys
import time
from urllib.request import Request, urlopen

base_url, api_key, path = sys.argv[1:]


def call(method, path, body=None):
    headers = {"Authorization": f"Bearer {api_key}", "Content-Type": "application/json"}
    data = None if body is None else json.dumps(body).encode()
    with urlopen(Request(base_url + path, data, headers, method=method)) as answer:
        return json.load(answer)


video = call("POST", "/videos", {"title": "By Python", "channel_id": "ch_news"})
with open(path, "rb") as file:
    content = file.read()
headers = {"Content-Type": "application/octet-stream"}
with urlopen(Request(video["upload_url"], content, headers, method="PUT")) as answer:
    size = json.load(answer)["size"]
while video["status"] not in ("ready", "failed"):
    time.sleep(0.1)
    video = call("GET", f"/videos/{video['id']}")["data"]
published = call("POST", "/feeds/feed_news/publish")
result = {"size": size, "status": video["status"], "duration": video["duration"], "videos": published["video_count"]}
print(json.dumps(result))
