from flask import Flask

app = Flask(__name__)


@app.get("/<path:path>")
def hello(path):
    return "hello", {"content-type": "text/plain"}


@app.get("/")
def root():
    return "hello", {"content-type": "text/plain"}
