import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { parseAllDocuments } from "yaml";
import { operations } from "./code.ts";

interface Metadata {
  readonly name?: string;
  readonly labels?: Labels;
}

type Labels = Readonly<Record<string, string>>;

interface Selector {
  readonly matchLabels?: Labels;
}

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
  readonly resources?: { readonly limits?: Labels };
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

interface WorkloadSpec {
  readonly replicas?: number;
  readonly selector: Selector;
  readonly template: { readonly metadata?: Metadata; readonly spec?: PodSpec };
}

interface StatefulSet {
  readonly spec?: WorkloadSpec & {
    readonly volumeClaimTemplates?: readonly {
      readonly metadata?: Metadata;
      readonly spec?: { readonly accessModes?: readonly string[] };
    }[];
  };
}

interface Deployment {
  readonly spec?: WorkloadSpec & {
    readonly strategy?: {
      readonly type?: string;
      readonly rollingUpdate?: { readonly maxUnavailable?: number };
    };
  };
}

interface IngressPath {
  readonly path?: string;
  readonly pathType: string;
  readonly backend: {
    readonly service?: { readonly name: string; readonly port?: { readonly name?: string } };
  };
}

/** The fields that the tests read, by kind. kubernetes.system.test.ts compares them with Kubernetes' own types. */
interface Kinds {
  readonly StatefulSet: StatefulSet;
  readonly Deployment: Deployment;
  readonly Service: {
    readonly metadata?: Metadata;
    readonly spec?: {
      readonly selector?: Labels;
      readonly ports?: readonly { readonly name?: string; readonly targetPort?: string }[];
    };
  };
  readonly Secret: { readonly stringData?: Labels };
  readonly Ingress: {
    readonly spec?: {
      readonly rules?: readonly { readonly http?: { readonly paths: readonly IngressPath[] } }[];
    };
  };
  readonly NetworkPolicy: {
    readonly spec?: {
      readonly podSelector: Selector;
      readonly ingress?: readonly {
        readonly from?: readonly object[];
        readonly ports?: readonly { readonly port?: string }[];
      }[];
    };
  };
  readonly PodDisruptionBudget: {
    readonly spec?: { readonly selector?: Selector; readonly maxUnavailable?: number };
  };
}

export interface Resource {
  readonly kind: keyof Kinds;
  readonly apiVersion: string;
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
  find<Kind extends keyof Kinds>(kind: Kind): Kinds[Kind] | undefined {
    const found = this.resources.filter((resource) => resource.kind === kind);
    if (found.length > 1) throw new Error(`${found.length} of ${kind}`);
    return found[0] as Kinds[Kind] | undefined;
  }

  get workload(): StatefulSet | Deployment {
    const found = this.find("StatefulSet") ?? this.find("Deployment");
    if (found === undefined) throw new Error("nothing runs the bot");
    return found;
  }

  get pod(): PodSpec {
    const spec = this.workload.spec?.template.spec;
    if (spec === undefined) throw new Error("no pod");
    return spec;
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
