import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { parse as parseYaml } from "yaml";
import { z } from "zod";
import { installTools } from "../../../tools/install.ts";
import { documentedBlock, pages } from "../../docs/markdown.ts";

export interface Hosting {
  readonly service: string;
  /** Port to listen on, taken from PORT or from the Dockerfile. */
  readonly port: number;
  readonly givesPort: boolean;
  readonly healthPath: string;
  readonly stopSignal: "SIGINT" | "SIGTERM";
  readonly stopSeconds: number;
  readonly memory: number;
  /** Folder where the volume is mounted. `undefined` with PostgreSQL. */
  readonly volume?: string;
  /** Grace period set on the page, in ms. Default: the bot's own. */
  readonly shutdownGraceMs?: number;
  readonly variables: readonly string[];
}

/** PORT on Railway (an example) and on Render (its default). */
const RAILWAY_PORT = 8080;
const RENDER_PORT = 10_000;

/** Memory of Render's smallest paid plan, in MB. Railway's limit depends on the plan. */
const PLAN_MEMORY = 512;

/** In seconds. Cloud Run allows no other value. */
const CLOUD_RUN_STOP_S = 10;

const seconds = z.string().regex(/^\d+s$/);

const flyFile = z.strictObject({
  app: z.string(),
  primary_region: z.string(),
  kill_timeout: z.int().max(300),
  http_service: z.strictObject({
    internal_port: z.int(),
    force_https: z.literal(true),
    auto_stop_machines: z.literal("off"),
    checks: z.tuple([
      z.strictObject({
        path: z.string(),
        interval: seconds,
        timeout: seconds,
        grace_period: seconds,
      }),
    ]),
  }),
  mounts: z.strictObject({ source: z.string(), destination: z.string() }),
  vm: z.tuple([z.strictObject({ size: z.string(), memory: z.string().regex(/^\d+mb$/) })]),
});

const railwayFile = z.strictObject({
  $schema: z.literal("https://railway.com/railway.schema.json"),
  build: z.strictObject({ builder: z.literal("DOCKERFILE") }),
  deploy: z.strictObject({
    healthcheckPath: z.string(),
    healthcheckTimeout: z.int(),
    drainingSeconds: z.int(),
    restartPolicyType: z.literal("ALWAYS"),
  }),
});

const renderFile = z.strictObject({
  services: z.tuple([
    z.strictObject({
      type: z.literal("web"),
      name: z.string(),
      runtime: z.literal("docker"),
      plan: z.literal("starter"),
      healthCheckPath: z.string(),
      maxShutdownDelaySeconds: z.int().min(1).max(300),
      envVars: z.array(
        z.union([
          z.strictObject({ key: z.string(), sync: z.literal(false) }),
          z.strictObject({
            key: z.literal("DATABASE_URL"),
            fromDatabase: z.strictObject({
              name: z.string(),
              property: z.literal("connectionString"),
            }),
          }),
        ]),
      ),
    }),
  ]),
  databases: z.tuple([z.strictObject({ name: z.string(), plan: z.string() })]),
});

const secret = z.strictObject({
  secretKeyRef: z.strictObject({ name: z.string(), key: z.literal("latest") }),
});

const cloudRunFile = z.strictObject({
  apiVersion: z.literal("serving.knative.dev/v1"),
  kind: z.literal("Service"),
  metadata: z.strictObject({ name: z.string() }),
  spec: z.strictObject({
    template: z.strictObject({
      metadata: z.strictObject({
        annotations: z.strictObject({
          "autoscaling.knative.dev/minScale": z.literal("1"),
          "autoscaling.knative.dev/maxScale": z.string(),
          "run.googleapis.com/cpu-throttling": z.literal("false"),
        }),
      }),
      spec: z.strictObject({
        containers: z.tuple([
          z.strictObject({
            image: z.string(),
            ports: z.tuple([z.strictObject({ containerPort: z.int() })]),
            startupProbe: z.strictObject({
              httpGet: z.strictObject({ path: z.string() }),
              periodSeconds: z.int(),
              failureThreshold: z.int(),
            }),
            resources: z.strictObject({
              limits: z.strictObject({ cpu: z.string(), memory: z.string().regex(/^\d+Mi$/) }),
            }),
            env: z.array(
              z.union([
                z.strictObject({ name: z.string(), value: z.string() }),
                z.strictObject({ name: z.string(), valueFrom: secret }),
              ]),
            ),
          }),
        ]),
      }),
    }),
  }),
});

export async function fly(): Promise<Hosting> {
  const modules = await installTools();
  const { parse } = await import(pathToFileURL(join(modules, "smol-toml/dist/index.js")).href);
  const file = flyFile.parse(parse(documentedBlock("docs/deploy/hosting.md", "fly")));
  return {
    service: "fly",
    port: file.http_service.internal_port,
    givesPort: false,
    healthPath: file.http_service.checks[0].path,
    stopSignal: "SIGINT",
    stopSeconds: file.kill_timeout,
    memory: Number.parseInt(file.vm[0].memory, 10),
    volume: file.mounts.destination,
    variables: [],
  };
}

export async function railway(): Promise<Hosting> {
  const block = documentedBlock("docs/deploy/hosting.md", "railway");
  const { deploy } = railwayFile.parse(JSON.parse(block));
  return {
    service: "railway",
    port: RAILWAY_PORT,
    givesPort: true,
    healthPath: deploy.healthcheckPath,
    stopSignal: "SIGTERM",
    stopSeconds: deploy.drainingSeconds,
    memory: PLAN_MEMORY,
    variables: [],
  };
}

export async function render(): Promise<Hosting> {
  const block = documentedBlock("docs/deploy/hosting.md", "render");
  const { services, databases } = renderFile.parse(parseYaml(block));
  const [service] = services;
  const named = service.envVars.flatMap((one) =>
    "fromDatabase" in one ? [one.fromDatabase.name] : [],
  );
  if (named[0] !== databases[0].name) throw new Error(`there is no database ${named[0]}`);
  return {
    service: "render",
    port: RENDER_PORT,
    givesPort: true,
    healthPath: service.healthCheckPath,
    stopSignal: "SIGTERM",
    stopSeconds: service.maxShutdownDelaySeconds,
    memory: PLAN_MEMORY,
    variables: service.envVars.map(({ key }) => key),
  };
}

export async function cloudRun(): Promise<Hosting> {
  const block = documentedBlock("docs/deploy/hosting.md", "cloud-run");
  const [container] = cloudRunFile.parse(parseYaml(block)).spec.template.spec.containers;
  const page = pages.find(({ path }) => path === "docs/deploy/hosting.md");
  const [, grace = ""] =
    /`createBot\(\{\s+shutdownGraceMs: ([\d_]+)\s+\}\)/.exec(page?.text ?? "") ?? [];
  return {
    service: "cloud-run",
    port: container.ports[0].containerPort,
    givesPort: true,
    healthPath: container.startupProbe.httpGet.path,
    stopSignal: "SIGTERM",
    stopSeconds: CLOUD_RUN_STOP_S,
    memory: Number.parseInt(container.resources.limits.memory, 10),
    shutdownGraceMs: Number(grace.replaceAll("_", "")),
    variables: container.env.map(({ name }) => name),
  };
}
