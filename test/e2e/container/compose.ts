import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { parse } from "yaml";
import { z } from "zod";

interface Service {
  readonly build?: string | undefined;
  readonly image?: string | undefined;
  readonly restart: string;
  readonly command?: readonly string[] | undefined;
  readonly env_file?: string | undefined;
  readonly environment: Readonly<Record<string, string>>;
  readonly volumes: readonly string[];
  readonly ports: readonly string[];
  readonly depends_on: Readonly<Record<string, { readonly condition: string }>>;
  readonly healthcheck?: { readonly test: readonly string[] } | undefined;
  readonly stop_grace_period?: string | undefined;
  readonly read_only: boolean;
  readonly tmpfs: readonly string[];
  readonly cap_drop: readonly string[];
  readonly cap_add: readonly string[];
  readonly security_opt: readonly string[];
  readonly mem_limit?: string | undefined;
}

interface File {
  readonly services: Readonly<Record<string, Service>>;
  readonly volumes: Readonly<Record<string, null>>;
}

const service: z.ZodType<Service> = z.strictObject({
  build: z.string().optional(),
  image: z.string().optional(),
  restart: z.string(),
  command: z.array(z.string()).optional(),
  env_file: z.string().optional(),
  environment: z.record(z.string(), z.string()).default({}),
  volumes: z.array(z.string()).default([]),
  ports: z.array(z.string()).default([]),
  depends_on: z.record(z.string(), z.strictObject({ condition: z.string() })).default({}),
  healthcheck: z
    .strictObject({
      test: z.array(z.string()),
      interval: z.string(),
      timeout: z.string(),
      retries: z.number(),
    })
    .optional(),
  stop_grace_period: z.string().optional(),
  read_only: z.boolean().default(false),
  tmpfs: z.array(z.string()).default([]),
  cap_drop: z.array(z.string()).default([]),
  cap_add: z.array(z.string()).default([]),
  security_opt: z.array(z.string()).default([]),
  mem_limit: z.string().optional(),
});

const file: z.ZodType<File> = z.strictObject({
  services: z.record(z.string(), service),
  volumes: z.record(z.string(), z.null()),
});

/** The parts of a compose.yaml that the tests check. An unknown key is an error. */
export class Compose {
  readonly #file: File;

  constructor(read: File) {
    this.#file = read;
  }

  service(name: string): Service {
    const found = this.#file.services[name];
    if (found === undefined) throw new Error(`compose.yaml has no service ${name}`);
    return found;
  }

  get names(): string[] {
    return Object.keys(this.#file.services);
  }

  problems(project: string): string[] {
    const services = Object.entries(this.#file.services);
    const mounts = services.flatMap(([, { volumes }]) => volumes);
    const sources = mounts.map((mount) => mount.split(":")[0] ?? "");
    const declared = Object.keys(this.#file.volumes);
    const files = services.flatMap(([, { build, env_file }]) => [
      ...(build === undefined ? [] : [join(build, "Dockerfile")]),
      ...(env_file === undefined ? [] : [env_file]),
    ]);
    const binds = sources.filter((source) => /^[./]/.test(source));
    const named = sources.filter((source) => !/^[./]/.test(source));
    const awaited = services.flatMap(([, { depends_on }]) => Object.keys(depends_on));
    return [
      ...services
        .filter(([, { build, image }]) => (build === undefined) === (image === undefined))
        .map(([name]) => `${name} has not one of build and image`),
      ...named.filter((name) => !declared.includes(name)).map((name) => `no volume ${name}`),
      ...declared.filter((name) => !named.includes(name)).map((name) => `unused volume ${name}`),
      ...awaited
        .filter((name) => !services.some(([known]) => known === name))
        .map((name) => `no service ${name}`),
      ...services
        .flatMap(([, { depends_on }]) => Object.keys(depends_on))
        // An image built from this project has its health check in the Dockerfile.
        .filter((name) => this.service(name).build === undefined)
        .filter((name) => this.service(name).healthcheck === undefined)
        .map((name) => `there is no health check for ${name}`),
      ...[...files, ...binds]
        .filter((path) => !existsSync(join(project, path)))
        .map((path) => `no file ${path}`),
    ];
  }
}

/** @throws {ZodError} if the file does not match the schema */
export function readCompose(path: string): Compose {
  return new Compose(file.parse(parse(readFileSync(path, "utf8"))));
}
