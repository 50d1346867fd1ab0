/* eslint-disable @typescript-eslint/no-unsafe-return, @typescript-eslint/no-unsafe-member-access -- answers are any JSON, and a case picks from them what it compares */
import {
  CONFIG_MAPS,
  configMap,
  del,
  get,
  mergePatch,
  post,
  reasonOnly,
  type Answer,
  type Select,
  type SuiteCase,
  type WatchedEvent,
} from "../story.js";

const create = (name: string, labels: Record<string, string> = {}) =>
  post(CONFIG_MAPS, configMap(name, {}, { labels: { story: "1", ...labels } }), { save: name, compare: "none" });

const THREE = [create("a", { x: "1" }), create("b", { x: "2" }), create("c")];

/** A real namespace holds a config map of its own. */
const OURS = "labelSelector=story";
const names: Select<Answer> = ({ code, body }) => [
  code,
  (body.items as { metadata: { name: string } }[] | undefined)?.map(({ metadata }) => metadata.name) ?? body.reason,
];
const select = (labels: string) =>
  get(`${CONFIG_MAPS}?labelSelector=${encodeURIComponent(`story,${labels}`)}`, { compare: names });
const typeAndName: Select<WatchedEvent> = ({ type, object }) => [type, object.metadata?.name];
const bookmarked: Select<WatchedEvent> = ({ type, object }) => [type, object.kind, object.metadata.annotations];
const watchPath = (query: string) => `${CONFIG_MAPS}?watch=true&${OURS}&${query}`;

export const LIST_CASES: SuiteCase[] = [
  { name: "a list names its kind and version", steps: [...THREE, get(`${CONFIG_MAPS}?${OURS}`)] },
  { name: "an empty list has items", steps: [get(`${CONFIG_MAPS}?labelSelector=none`)] },
  {
    name: "lists by equality and inequality of labels",
    steps: [...THREE, select("x=1"), select("x==2"), select("x!=1")],
  },
  {
    name: "lists by sets of labels",
    steps: [...THREE, select("x in (1,2)"), select("x notin (1)"), select("x"), select("!x")],
  },
  {
    name: "refuses a label selector that is none",
    steps: [get(`${CONFIG_MAPS}?labelSelector=a%3D%3D%3Db!`, { compare: reasonOnly })],
  },
  {
    name: "lists by fields",
    steps: [
      ...THREE,
      get(`${CONFIG_MAPS}?fieldSelector=metadata.name%3Db`, { compare: names }),
      get(`${CONFIG_MAPS}?${OURS}&fieldSelector=metadata.name!%3Db`, { compare: names }),
      get(`/api/v1/configmaps?${OURS}&fieldSelector=metadata.namespace%3D$NS`, { compare: names }),
    ],
  },
  {
    name: "refuses fields that select nothing",
    steps: [get(`${CONFIG_MAPS}?fieldSelector=data.x%3D1`, { compare: reasonOnly })],
  },
  {
    name: "lists in pages of one consistent state",
    steps: [
      ...THREE,
      get(`${CONFIG_MAPS}?limit=2&fieldSelector=metadata.name!%3Dkube-root-ca.crt`, { save: "page", compare: names }),
      del(`${CONFIG_MAPS}/c`, undefined, { compare: "none" }),
      create("d"),
      get(
        `${CONFIG_MAPS}?limit=2&fieldSelector=metadata.name!%3Dkube-root-ca.crt&continue={{page.metadata.continue}}`,
        { compare: names },
      ),
    ],
  },
  {
    name: "refuses a continue token that is none",
    steps: [get(`${CONFIG_MAPS}?limit=1&continue=nonsense`, { compare: reasonOnly })],
  },
  {
    name: "lists the state of an exact version",
    steps: [
      create("a"),
      create("b"),
      get(`${CONFIG_MAPS}?${OURS}&resourceVersion={{a.metadata.resourceVersion}}&resourceVersionMatch=Exact`, {
        compare: names,
      }),
    ],
  },
  {
    name: "resourceVersionMatch needs a version",
    steps: [get(`${CONFIG_MAPS}?resourceVersionMatch=Exact`, { compare: reasonOnly })],
  },
  {
    name: "lists as metadata only",
    steps: [
      create("a"),
      get(`${CONFIG_MAPS}?${OURS}`, {
        headers: { Accept: "application/json;as=PartialObjectMetadataList;g=meta.k8s.io;v=v1" },
      }),
    ],
  },
];

export const WATCH_CASES: SuiteCase[] = [
  {
    name: "a watch without a version begins with what is there",
    steps: [
      create("a"),
      { watch: "w", path: watchPath("") },
      { events: "w", count: 1 },
      create("b"),
      { events: "w", count: 1, compare: typeAndName },
    ],
  },
  {
    name: "a watch resumes after a version",
    steps: [
      create("a"),
      create("b"),
      mergePatch(`${CONFIG_MAPS}/a`, { data: { k: "1" } }, { compare: "none" }),
      del(`${CONFIG_MAPS}/b`, undefined, { compare: "none" }),
      { watch: "w", path: watchPath("resourceVersion={{a.metadata.resourceVersion}}") },
      { events: "w", count: 3, compare: typeAndName },
    ],
  },
  {
    name: "a deletion carries the last state under a new version",
    steps: [
      create("a"),
      { watch: "w", path: watchPath("resourceVersion={{a.metadata.resourceVersion}}") },
      del(`${CONFIG_MAPS}/a`, undefined, { compare: "none" }),
      { events: "w", count: 1 },
    ],
  },
  {
    name: "an object that stops matching is deleted for the watcher, and added when it matches again",
    steps: [
      create("a", { x: "1" }),
      {
        watch: "w",
        path: `${CONFIG_MAPS}?watch=true&labelSelector=x%3D1&resourceVersion={{a.metadata.resourceVersion}}`,
      },
      mergePatch(`${CONFIG_MAPS}/a`, { metadata: { labels: { x: "2" } } }, { compare: "none" }),
      mergePatch(`${CONFIG_MAPS}/a`, { metadata: { labels: { x: "1" } } }, { compare: "none" }),
      { events: "w", count: 2, compare: typeAndName },
    ],
  },
  {
    name: "a watch of one object by field",
    steps: [
      create("a"),
      {
        watch: "w",
        path: `${CONFIG_MAPS}?watch=true&fieldSelector=metadata.name%3Db&resourceVersion={{a.metadata.resourceVersion}}`,
      },
      create("c"),
      create("b"),
      { events: "w", count: 1, compare: typeAndName },
    ],
  },
  {
    name: "timeoutSeconds ends a watch",
    steps: [
      { watch: "w", path: watchPath("timeoutSeconds=1") },
      { events: "w", count: "end" },
    ],
  },
  {
    name: "a watch with a bad version is refused",
    steps: [get(watchPath("resourceVersion=nonsense"), { compare: reasonOnly })],
  },
  {
    name: "initial events end with a bookmark that says so",
    steps: [
      create("a"),
      {
        watch: "w",
        path: watchPath("sendInitialEvents=true&resourceVersionMatch=NotOlderThan&allowWatchBookmarks=true"),
      },
      { events: "w", count: 2, compare: bookmarked },
    ],
  },
  {
    name: "a watch as a table sends the columns once",
    steps: [create("a"), { watch: "w", path: watchPath("") }, { events: "w", count: 1, compare: typeAndName }],
  },
];
