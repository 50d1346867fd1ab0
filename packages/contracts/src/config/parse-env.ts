import type { ConfigOf, Variable, Variables } from "./variables.js";

/** A start can't go on: one line for each variable that is wrong. */
export class ConfigError extends Error {
  override readonly name = "ConfigError";
  constructor(readonly problems: readonly string[]) {
    super(`The environment can't be used:\n${problems.map((problem) => `  ${problem}`).join("\n")}`);
  }
}

const distance = (a: string, b: string): number => {
  let row = Array.from({ length: b.length + 1 }, (_, index) => index);
  for (let i = 1; i <= a.length; i++) {
    const next = [i];
    for (let j = 1; j <= b.length; j++) {
      const replaced = (row[j - 1] ?? 0) + (a[i - 1] === b[j - 1] ? 0 : 1);
      next.push(Math.min(replaced, (row[j] ?? 0) + 1, (next[j - 1] ?? 0) + 1));
    }
    row = next;
  }
  return row[b.length] ?? 0;
};

/** The known word that is nearest to a mistyped one, if any is near enough to be meant. */
export const didYouMean = (word: string, known: readonly string[]): string | undefined => {
  const ranked = known
    .map((candidate) => ({ candidate, away: distance(word, candidate) }))
    .sort((a, b) => a.away - b.away);
  const best = ranked[0];
  return best !== undefined && best.away <= Math.max(2, Math.floor(word.length / 4)) ? best.candidate : undefined;
};

const unknownNames = (env: NodeJS.ProcessEnv, variables: Variables): string[] =>
  Object.keys(env)
    .filter((name) => name.startsWith("SLESS_") && !Object.hasOwn(variables, name))
    .map((name) => {
      const meant = didYouMean(name, Object.keys(variables));
      return `${name} is not a setting of this program${meant === undefined ? "" : `; did you mean ${meant}?`}`;
    });

const shown = (variable: Variable, value: string | undefined): string =>
  value === undefined || variable.secret === true ? "" : `, not ${JSON.stringify(value.slice(0, 80))}`;

/**
 * Reads an app's settings from the environment.
 * @returns a frozen object with one typed value per variable.
 * @throws ConfigError naming every unknown `SLESS_*` variable and every bad value, each with an example.
 */
export const parseEnv = <V extends Variables>(env: NodeJS.ProcessEnv, variables: V): ConfigOf<V> => {
  const problems = unknownNames(env, variables);
  const config: Record<string, unknown> = {};
  for (const [name, variable] of Object.entries(variables) as [string, Variable][]) {
    const result = variable.parse.safeParse(env[name]);
    if (result.success) config[name] = result.data;
    else {
      const why = result.error.issues.map((issue) => `${issue.path.join(".")} ${issue.message}`.trim()).join("; ");
      problems.push(
        `${name}: ${why}${shown(variable, env[name])}. It is: ${variable.description} Example: ${name}=${variable.example}`,
      );
    }
  }
  if (problems.length > 0) throw new ConfigError(problems);
  return Object.freeze(config) as ConfigOf<V>;
};
