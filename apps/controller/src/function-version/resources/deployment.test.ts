import { describe, expect, it } from "@jest/globals";
import { LABELS } from "@sless/contracts";
import { aVersion } from "@sless/testing";
import { makeDeployment } from "./deployment.js";
import { makeService } from "./service.js";

const version = aVersion({ spec: { env: { ZED: "1", ALPHA: "2" }, memoryMB: 512, timeoutSec: 20 } });
const deployment = makeDeployment({
  version,
  image: "registry.test/x@sha256:00",
  concurrency: 4,
  replicas: 2,
  installation: "test",
  startSeconds: 60,
  maxBodyBytes: 1024,
});
const pod = deployment.spec?.template.spec;
const container = pod?.containers[0];

describe("makeDeployment", () => {
  it("security 12: walls the pod in", () => {
    expect(pod).toMatchObject({
      automountServiceAccountToken: false,
      enableServiceLinks: false,
      securityContext: { runAsNonRoot: true, runAsUser: 10001, seccompProfile: { type: "RuntimeDefault" } },
      volumes: [{ emptyDir: { sizeLimit: "512Mi" } }],
    });
    expect(container?.securityContext).toMatchObject({
      allowPrivilegeEscalation: false,
      capabilities: { drop: ["ALL"] },
      readOnlyRootFilesystem: true,
    });
    expect(pod?.hostNetwork ?? pod?.serviceAccountName).toBeUndefined();
  });

  it("asks for CPU by memory, limits memory and storage, and never CPU", () => {
    expect(container?.resources?.requests).toMatchObject({ cpu: "250m", memory: "512Mi" });
    expect(Object.keys(container?.resources?.limits ?? {}).sort()).toEqual(["ephemeral-storage", "memory"]);
  });

  it("has its environment in a fixed order, the platform's names winning", () => {
    const names = container?.env?.map(({ name }) => name) ?? [];
    expect(names).toEqual([...names].sort());
    expect(names).toEqual(expect.arrayContaining(["ALPHA", "ZED", "SLESS_VERSION_UID", "SLESS_CONCURRENCY"]));
    const other = aVersion({ spec: { ...version.spec, env: { ALPHA: "2", ZED: "1" } } });
    const again = makeDeployment({
      ...{ version: other, image: "registry.test/x@sha256:00", concurrency: 4, replicas: 2 },
      ...{ installation: "test", startSeconds: 60, maxBodyBytes: 1024 },
    });
    expect(JSON.stringify(again)).toBe(JSON.stringify(deployment));
  });

  it("gives a pod that goes longer than its longest call, and probes the control port alone", () => {
    expect(pod?.terminationGracePeriodSeconds).toBe(35);
    const probes = [container?.startupProbe, container?.readinessProbe, container?.livenessProbe];
    expect(probes.map((probe) => probe?.httpGet?.port)).toEqual(["control", "control", "control"]);
  });

  it("is selected by the version's uid, as is the headless Service", () => {
    const selector = { [LABELS.versionUid]: version.metadata.uid };
    expect(deployment.spec?.selector.matchLabels).toEqual(selector);
    expect(makeService(version, "test").spec).toMatchObject({ clusterIP: "None", selector });
  });
});
