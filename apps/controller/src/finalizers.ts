import { FINALIZER } from "@sless/contracts";
import { NotFoundError, objectKeyOf, type KubeClient, type KubeObject, type Resource } from "@sless/kube";

type Client = Pick<KubeClient, "mergePatch">;

const setFinalizers = async <T extends KubeObject>(
  client: Client,
  resource: Resource<T>,
  object: T,
  finalizers: readonly string[],
): Promise<T> => {
  const { uid, resourceVersion } = object.metadata;
  const patch = { metadata: { finalizers } };
  return client.mergePatch(resource, objectKeyOf(object), patch, { uid, resourceVersion });
};

/** Makes sure that nothing of the object is made before its removal is certain to be cleaned up. Returns it as it is now. */
export const ensureFinalizer = async <T extends KubeObject>(
  client: Client,
  resource: Resource<T>,
  object: T,
): Promise<T> => {
  const finalizers = object.metadata.finalizers ?? [];
  if (finalizers.includes(FINALIZER)) return object;
  return setFinalizers(client, resource, object, [...finalizers, FINALIZER]);
};

/** Everything is cleaned up: lets the object go. One that is gone already is fine. */
export const releaseFinalizer = async <T extends KubeObject>(
  client: Client,
  resource: Resource<T>,
  object: T,
): Promise<void> => {
  const finalizers = object.metadata.finalizers ?? [];
  if (!finalizers.includes(FINALIZER)) return;
  try {
    await setFinalizers(
      client,
      resource,
      object,
      finalizers.filter((finalizer) => finalizer !== FINALIZER),
    );
  } catch (error) {
    if (!(error instanceof NotFoundError)) throw error;
  }
};
