import { existsSync, mkdirSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import type { ClusterStore } from "../../store/types.js";
import type { UnpackedImage } from "../image/image-cache.js";
import type { Container, Pod } from "../objects.js";
import type { ProcessSpec } from "../process/supervisor.js";
import type { PodAddress } from "./addresses.js";
import { ContainerConfigError, expand, resolveEnv } from "./env.js";
import type { MachineCommands } from "./machine-commands.js";
import { createPathMapper, mapArgument, mapValue, type PathMapper } from "./paths.js";
import { mountsOf } from "./volumes.js";

/** Tells a process which port to take, by the name of the container port; where ports stay, it is what they say. */
export type PortVariables = Readonly<Record<string, string>>;

export interface ContainerSetup {
  store: ClusterStore;
  commands: MachineCommands;
  portVariables: PortVariables;
  pod: Pod;
  container: Container;
  image: UnpackedImage;
  address: PodAddress;
  /** Folder of the pod on this machine. */
  podFolder: string;
  volumes: ReadonlyMap<string, string>;
}

/** The file that the container writes its last words to. */
export const terminationFile = (podFolder: string, container: string): string =>
  join(podFolder, "termination", container);

/** Command and arguments by the rules of the pod spec: a command of the pod drops the image's arguments as well. */
const commandLine = (container: Container, { config }: UnpackedImage): string[] => {
  const entrypoint = container.command ?? config.Entrypoint ?? [];
  const args = container.args ?? (container.command ? [] : (config.Cmd ?? []));
  const line = [...entrypoint, ...args];
  if (line.length === 0) throw new ContainerConfigError("no command specified: neither pod nor image names one");
  return line;
};

const folderFor = (podFolder: string, name: string): string => {
  const folder = join(podFolder, name);
  mkdirSync(folder, { recursive: true });
  return folder;
};

const workingDirectory = (setup: ContainerSetup, map: PathMapper): string => {
  const wanted = map(setup.container.workingDir ?? setup.image.config.WorkingDir ?? "/");
  return wanted !== "/" && existsSync(wanted) ? wanted : setup.image.rootfs;
};

const portEnv = ({ container, address, portVariables }: ContainerSetup): [string, string][] =>
  (container.ports ?? []).flatMap(({ name = "", containerPort }): [string, string][] => {
    const variable = portVariables[name];
    const port = address.ports.get(containerPort);
    return variable === undefined || port === undefined ? [] : [[variable, String(port)]];
  });

/**
 * How a container becomes a process: environment from empty, paths of the image and of mounts rewritten to where they
 * lie, `SLESS_HOST` and the ports set to the pod's own.
 * @throws ContainerConfigError
 */
export const makeProcessSpec = async (setup: ContainerSetup): Promise<ProcessSpec> => {
  const { store, pod, container, image, podFolder, commands } = setup;
  const mounts = mountsOf(container, setup.volumes);
  const map = createPathMapper(image.rootfs, mounts);
  const declared = resolveEnv({ store, pod, imageEnv: image.config.Env ?? [] }, container);
  const [command = "", ...args] = commandLine(container, image).map((word) => expand(word, declared));

  const lastWords = terminationFile(podFolder, container.name);
  mkdirSync(dirname(lastWords), { recursive: true });
  writeFileSync(lastWords, "", { mode: 0o600 });

  const path = [commands.path, declared.get("PATH")].filter(Boolean).join(":");
  const env = new Map<string, string>([
    ["HOME", folderFor(podFolder, "home")],
    ["TMPDIR", mounts.find(({ mountPath }) => mountPath === "/tmp")?.folder ?? folderFor(podFolder, "tmp")],
    ["HOSTNAME", pod.spec.hostname ?? pod.metadata.name],
  ]);
  for (const [name, value] of declared) env.set(name, mapValue(map, value));
  env.set("PATH", path);
  env.set("SLESS_HOST", setup.address.ip);
  env.set("SLESS_TERMINATION_LOG", lastWords);
  for (const [name, value] of portEnv(setup)) env.set(name, value);

  const resolved = await commands.resolve(command);
  return {
    command: resolved === command ? map(command) : resolved,
    args: args.map((argument) => mapArgument(map, argument)),
    env: Object.fromEntries(env),
    cwd: workingDirectory(setup, map),
  };
};
