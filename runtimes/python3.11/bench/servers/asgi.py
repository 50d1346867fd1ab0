HEADERS = [(b"content-type", b"text/plain"), (b"content-length", b"5")]


async def app(scope, receive, send):
    await send({"type": "http.response.start", "status": 200, "headers": HEADERS})
    await send({"type": "http.response.body", "body": b"hello"})
