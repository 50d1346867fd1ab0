/** The function that is measured, as an author of either framework writes it. */
export const handler = async () => ({ statusCode: 200, body: "hello" });

export const framework = (request, response) => {
  response.type("text/plain").send("hello");
};
