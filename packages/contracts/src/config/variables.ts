import { z } from "zod";

/** One environment variable of an app: how its text is read, and what a person needs to know to set it. */
export interface Variable<T = unknown> {
  readonly parse: z.ZodType<T, string | undefined>;
  readonly example: string;
  readonly description: string;
  /** Never printed, not even in an error. */
  readonly secret?: boolean;
}
export type Variables = Readonly<Record<`SLESS_${string}`, Variable>>;
export type ConfigOf<V extends Variables> = {
  readonly [Name in keyof V]: V[Name] extends Variable<infer T> ? T : never;
};

type Details = Omit<Variable, "parse">;

const optional = <T>(schema: z.ZodType<T, string>, fallback: string | undefined): z.ZodType<T, string | undefined> =>
  z.preprocess((text) => (text === undefined || text === "" ? fallback : text), schema) as unknown as z.ZodType<
    T,
    string | undefined
  >;

const described = <T>(parse: z.ZodType<T, string | undefined>, details: Details): Variable<T> => ({
  parse,
  ...details,
});

/** Text that must be set. */
export const text = (details: Details): Variable<string> =>
  described(optional(z.string({ error: "must be set" }).min(1), undefined), details);

/** Text with a default. */
export const textOr = (fallback: string, details: Details): Variable<string> =>
  described(optional(z.string(), fallback), details);

/** Text that may be left out. */
export const maybeText = (details: Details): Variable<string | undefined> =>
  described(
    z
      .string()
      .optional()
      .transform((value) => (value === "" ? undefined : value)) as z.ZodType<string | undefined, string | undefined>,
    details,
  );

/** A whole number with a default, within bounds. */
export const integer = (fallback: number, min: number, max: number, details: Details): Variable<number> =>
  described(
    optional(
      z
        .string()
        .regex(/^-?\d+$/, "must be a whole number")
        .transform(Number)
        .pipe(z.int().min(min).max(max)),
      String(fallback),
    ),
    details,
  );

/** `true` or `false`, with a default. */
export const flag = (fallback: boolean, details: Details): Variable<boolean> =>
  described(
    optional(
      z.enum(["true", "false"], { error: "must be true or false" }).transform((value) => value === "true"),
      String(fallback),
    ),
    details,
  );

/** One of a closed set, with a default. */
export const oneOf = <const T extends string>(
  values: readonly [T, ...T[]],
  fallback: T,
  details: Details,
): Variable<T> =>
  described(
    optional(
      z.enum(values, { error: `must be one of ${values.join(", ")}` }) as unknown as z.ZodType<T, string>,
      fallback,
    ),
    details,
  );

const HttpUrl = z
  .string({ error: "must be set" })
  .refine((value) => URL.canParse(value) && /^https?:$/.test(new URL(value).protocol), "must be an http or https URL")
  .transform((value) => value.replace(/\/+$/, ""));

/** An http or https URL that must be set; trailing slashes go. */
export const url = (details: Details): Variable<string> => described(optional(HttpUrl, undefined), details);

/** An http or https URL that may be left out. */
export const maybeUrl = (details: Details): Variable<string | undefined> =>
  described(optional(HttpUrl.optional() as unknown as z.ZodType<string | undefined, string>, undefined), details);

/** Where a server listens. */
export interface Address {
  readonly host: string;
  readonly port: number;
}

/** `host:port`, with a default. */
export const address = (fallback: string, details: Details): Variable<Address> =>
  described(
    optional(
      z
        .string()
        .regex(/^(\[[0-9a-fA-F:]+\]|[^:\s]+):\d{1,5}$/, "must be host:port")
        .transform((value) => {
          const split = value.lastIndexOf(":");
          return { host: value.slice(0, split).replace(/^\[|\]$/g, ""), port: Number(value.slice(split + 1)) };
        })
        .refine(({ port }) => port <= 65_535, "has a port above 65535"),
      fallback,
    ),
    details,
  );

/** Words separated by commas; none by default. */
export const list = (details: Details): Variable<readonly string[]> =>
  described(
    optional(
      z.string().transform((value) =>
        value
          .split(",")
          .map((word) => word.trim())
          .filter((word) => word !== ""),
      ),
      "",
    ),
    details,
  );

/** JSON that fits a schema. */
export const json = <T>(schema: z.ZodType<T>, details: Details): Variable<T> =>
  described(
    optional(
      z
        .string({ error: "must be set" })
        .transform((value, context): unknown => {
          try {
            return JSON.parse(value);
          } catch {
            context.addIssue({ code: "custom", message: "must be JSON" });
            return z.NEVER;
          }
        })
        .pipe(schema) as unknown as z.ZodType<T, string>,
      undefined,
    ),
    details,
  );
