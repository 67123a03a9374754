"""Drives a server through the official `openai` client: the base URL is the only argument.

Prints one line per call and exits non-zero at the first surprise.
"""

import base64
import io
import struct
import sys
import time
import zlib

from openai import APIStatusError, NotFoundError, OpenAI


def png(width: int, height: int) -> bytes:
    """A grey PNG of the given size."""

    def chunk(kind: bytes, data: bytes) -> bytes:
        return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))

    rows = (b"\x00" + b"\x80" * width) * height
    head = struct.pack(">IIBBBBB", width, height, 8, 0, 0, 0, 0)
    return b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", head) + chunk(b"IDAT", zlib.compress(rows)) + chunk(b"IEND", b"")


def png_size(data: bytes) -> tuple[int, int]:
    assert data[:8] == b"\x89PNG\r\n\x1a\n", f"not a PNG: {data[:8]!r}"
    return struct.unpack(">II", data[16:24])


def images(client: OpenAI, model: str) -> None:
    made = client.images.generate(model=model, prompt="a lighthouse", size="96x64", n=2, response_format="b64_json",
                                  extra_body={"num_inference_steps": 2, "seed": 7})
    sizes = [png_size(base64.b64decode(item.b64_json)) for item in made.data]
    assert sizes == [(96, 64), (96, 64)], sizes
    print(f"images.generate: {sizes}")

    reference = ("reference.png", io.BytesIO(png(80, 48)), "image/png")
    edited = client.images.edit(model=model, prompt="bluer", image=reference, size="80x48",
                                response_format="b64_json", extra_body={"num_inference_steps": 2})
    size = png_size(base64.b64decode(edited.data[0].b64_json))
    assert size == (80, 48), size
    print(f"images.edit: {size}")

    pair = [("a.png", io.BytesIO(png(64, 64)), "image/png"), ("b.png", io.BytesIO(png(32, 32)), "image/png")]
    both = client.images.edit(model=model, prompt="join them", image=pair, size="64x64", response_format="b64_json",
                              extra_body={"num_inference_steps": 2})
    assert len(both.data) == 1
    print("images.edit with two references: ok")

    try:
        client.images.generate(model=model, prompt="x", size="wide")
        raise AssertionError("a bad size was accepted")
    except APIStatusError as error:
        assert error.status_code == 400, error.status_code
        print(f"a bad size: {error.status_code}")


def videos(client: OpenAI, model: str) -> None:
    job = client.videos.create(model=model, prompt="waves", size="64x64", seconds="4",
                               extra_body={"num_frames": 9, "fps": 8, "num_inference_steps": 2})
    assert job.status in ("queued", "in_progress"), job.status
    deadline = time.monotonic() + 60
    while job.status in ("queued", "in_progress"):
        assert time.monotonic() < deadline, "the job did not finish"
        time.sleep(0.05)
        job = client.videos.retrieve(job.id)
    assert job.status == "completed", job.status
    content = client.videos.download_content(job.id).read()
    assert content[4:8] == b"ftyp", content[:16]
    print(f"videos: completed, {len(content)} bytes")
    assert any(entry.id == job.id for entry in client.videos.list().data)
    gone = client.videos.delete(job.id)
    assert gone.deleted is True
    try:
        client.videos.retrieve(job.id)
        raise AssertionError("a deleted job is still there")
    except NotFoundError:
        print("videos.delete: gone")


def main() -> None:
    client = OpenAI(base_url=f"{sys.argv[1]}/v1", api_key="unused", max_retries=0)
    model = client.models.list().data[0].id
    images(client, model)
    videos(client, model)
    print("all calls answered")


if __name__ == "__main__":
    main()
