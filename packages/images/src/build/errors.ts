/** The image can't be built as asked, and trying again won't help until somebody changes something. */
export class BuildRejected extends Error {
  override readonly name: string = "BuildRejected";
}

/** The base image can't carry code here: wrong platform, layers of an unknown type. The operator has to change it. */
export class BaseImageUnusable extends BuildRejected {
  override readonly name = "BaseImageUnusable";
}

/** The object store holds other bytes under the code's key than those that were uploaded; nothing was built of them. */
export class ArtifactMismatch extends BuildRejected {
  override readonly name = "ArtifactMismatch";
}
