def handler(event, context):
    """Answers a greeting. `event` is the HTTP request, `context` knows the call: see the README of the runtime."""
    name = event["queryStringParameters"].get("name", "world")
    print(f"greeting {name}")
    return {"statusCode": 200, "body": {"message": f"Hello, {name}!", "requestId": context.request_id}}
