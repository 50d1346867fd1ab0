/** What an invoke names: the path and query stay as they came, undecoded. */
export interface InvokeTarget {
  readonly namespace: string;
  readonly name: string;
  /** Raw path below `invoke` (empty or beginning with `/`), and raw query with its `?`. */
  readonly rest: string;
}

const INVOKE = /^\/v1\/namespaces\/([^/?]+)\/functions\/([^/?]+)\/invoke(\/[^?]*)?(\?.*)?$/s;

/** Label of invokes in metrics. */
export const INVOKE_ROUTE = "/v1/namespaces/:ns/functions/:name/invoke";

/** Reads the target from a raw request target; undefined when it is no invoke. */
export const parseInvokeTarget = (url: string): InvokeTarget | undefined => {
  const match = INVOKE.exec(url);
  if (!match) return undefined;
  const [, namespace = "", name = "", path = "", query = ""] = match;
  return { namespace, name, rest: path + query };
};
