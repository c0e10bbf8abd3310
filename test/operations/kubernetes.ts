import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { parseAllDocuments } from "yaml";
import { operations } from "./code.ts";

export interface Probe {
  readonly httpGet?: { readonly path?: string; readonly port: string };
  readonly periodSeconds?: number;
  readonly timeoutSeconds?: number;
  readonly failureThreshold?: number;
}

export interface Container {
  readonly env?: readonly { readonly name: string; readonly value?: string }[];
  readonly envFrom?: readonly { readonly secretRef?: { readonly name?: string } }[];
  readonly ports?: readonly { readonly name?: string; readonly containerPort: number }[];
  readonly livenessProbe?: Probe;
  readonly startupProbe?: Probe;
  readonly readinessProbe?: Probe;
  readonly resources?: { readonly limits?: Readonly<Record<string, string>> };
  readonly securityContext?: {
    readonly runAsUser?: number;
    readonly readOnlyRootFilesystem?: boolean;
    readonly allowPrivilegeEscalation?: boolean;
    readonly capabilities?: object;
  };
  readonly volumeMounts?: readonly { readonly name: string; readonly mountPath: string }[];
}

export interface PodSpec {
  readonly containers: readonly Container[];
  readonly terminationGracePeriodSeconds?: number;
  readonly automountServiceAccountToken?: boolean;
  readonly enableServiceLinks?: boolean;
  readonly securityContext?: {
    readonly runAsNonRoot?: boolean;
    readonly runAsUser?: number;
    readonly runAsGroup?: number;
    readonly fsGroup?: number;
    readonly seccompProfile?: { readonly type: string };
  };
  readonly volumes?: readonly { readonly name: string; readonly emptyDir?: object }[];
}

export interface Resource {
  readonly kind: string;
  readonly apiVersion: string;
  /** A StatefulSet and a Deployment have a template. kubernetes.system.test.ts checks all fields. */
  readonly spec?: { readonly template?: { readonly spec?: PodSpec } };
  readonly stringData?: Readonly<Record<string, string>>;
}

export const manifestFiles: readonly string[] = readdirSync(join(operations, "kubernetes")).sort();

export const workloads: readonly string[] = ["postgres.yaml", "sqlite.yaml"];

/** Enables metrics by uncommenting the manifest's lines for them. */
export function withMetrics(text: string): string {
  return text.replaceAll(/^( *)# (- | {2})/gm, "$1$2");
}

/** The resources in a manifest file, as changed by `change`. */
export class Manifest {
  readonly resources: readonly Resource[];

  constructor(name: string, change: (text: string) => string = (text) => text) {
    const text = change(readFileSync(join(operations, "kubernetes", name), "utf8"));
    this.resources = parseAllDocuments(text, { uniqueKeys: true }).map((document) => {
      if (document.errors.length > 0) throw new Error(document.errors.join("\n"));
      return document.toJS();
    });
  }

  /** Returns the only resource of a kind, or `undefined` if there is none. */
  find(kind: string): Resource | undefined {
    const found = this.resources.filter((resource) => resource.kind === kind);
    if (found.length > 1) throw new Error(`${found.length} of ${kind}`);
    return found[0];
  }

  get pod(): PodSpec {
    const workload = this.find("StatefulSet") ?? this.find("Deployment");
    const pod = workload?.spec?.template?.spec;
    if (pod === undefined) throw new Error("nothing runs the bot");
    return pod;
  }

  get bot(): Container {
    const [bot, ...more] = this.pod.containers;
    if (bot === undefined || more.length > 0)
      throw new Error("the pod must have exactly one container");
    return bot;
  }

  env(name: string): string | undefined {
    return this.bot.env?.find((each) => each.name === name)?.value;
  }
}
