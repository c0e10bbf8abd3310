import { readFileSync } from "node:fs";
import { join } from "node:path";
import type { Deployment, StatefulSet } from "kubernetes-types/apps/v1.js";
import type { Container, PodSpec, Secret, Service } from "kubernetes-types/core/v1.js";
import type { Ingress, NetworkPolicy } from "kubernetes-types/networking/v1.js";
import type { PodDisruptionBudget } from "kubernetes-types/policy/v1.js";
import { parseAllDocuments } from "yaml";
import { operations } from "./code.ts";

/** The kinds that we use, and where their types are. */
export const kinds = {
  StatefulSet: "apps/v1",
  Deployment: "apps/v1",
  Service: "core/v1",
  Secret: "core/v1",
  Ingress: "networking/v1",
  NetworkPolicy: "networking/v1",
  PodDisruptionBudget: "policy/v1",
} as const;

interface Kinds {
  readonly StatefulSet: StatefulSet;
  readonly Deployment: Deployment;
  readonly Service: Service;
  readonly Secret: Secret;
  readonly Ingress: Ingress;
  readonly NetworkPolicy: NetworkPolicy;
  readonly PodDisruptionBudget: PodDisruptionBudget;
}

export interface Resource {
  readonly kind: keyof Kinds;
  readonly apiVersion: string;
}

/** The resources of a file, one way or the other changed before. */
export class Manifest {
  readonly resources: readonly Resource[];

  constructor(name: string, change: (text: string) => string = (text) => text) {
    const text = change(readFileSync(join(operations, "kubernetes", name), "utf8"));
    this.resources = parseAllDocuments(text, { uniqueKeys: true }).map((document) => {
      if (document.errors.length > 0) throw new Error(document.errors.join("\n"));
      return document.toJS();
    });
  }

  /** The only one of its kind; undefined where there is none. */
  find<Kind extends keyof Kinds>(kind: Kind): Kinds[Kind] | undefined {
    const found = this.resources.filter((resource) => resource.kind === kind);
    if (found.length > 1) throw new Error(`${found.length} of ${kind}`);
    return found[0] as Kinds[Kind] | undefined;
  }

  /** What runs the bot. */
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
    if (bot === undefined || more.length > 0) throw new Error("not one container");
    return bot;
  }

  env(name: string): string | undefined {
    return this.bot.env?.find((each) => each.name === name)?.value;
  }
}
