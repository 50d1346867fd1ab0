/**
 * Answers a greeting. `event` is the HTTP request, `context` knows the call: see the README of the runtime.
 * @param {{ queryStringParameters: Record<string, string> }} event
 * @param {{ requestId: string }} context
 */
export const handler = async (event, context) => {
  const name = event.queryStringParameters.name ?? "world";
  console.log(`greeting ${name}`);
  return { statusCode: 200, body: { message: `Hello, ${name}!`, requestId: context.requestId } };
};
