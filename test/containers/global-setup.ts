import type { TestProject } from "vitest/node";
import { Engine, whyNoEngine } from "./engine/engine.ts";
import { makeBaseImages } from "./engine/images.ts";

declare module "vitest" {
  interface ProvidedContext {
    /** The container engine's host, or the reason why there is no engine. */
    readonly engine: { readonly host: string } | { readonly whyNot: string };
  }
}

export default async function setup(project: TestProject): Promise<() => Promise<void>> {
  const whyNot = whyNoEngine();
  if (whyNot !== undefined) {
    process.stderr.write(`${whyNot}\n`);
    project.provide("engine", { whyNot });
    return async () => undefined;
  }
  const engine = await Engine.start();
  try {
    await makeBaseImages(engine.docker);
  } catch (error) {
    await engine.stop();
    throw error;
  }
  project.provide("engine", { host: engine.host });
  return () => engine.stop();
}
