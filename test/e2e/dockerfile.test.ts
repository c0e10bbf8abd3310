import { readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { root } from "../create/harness.ts";
import { complaintsAbout } from "./container/lint.ts";

const dockerfile = readFileSync(join(root, "templates/starter/Dockerfile"), "utf8");

test("the Dockerfile of the starter is without complaint", () => {
  expect(complaintsAbout(dockerfile)).toEqual([]);
});

test.each([
  ["a base image that is another one tomorrow", "node:24-slim", "node:latest", "Latest Tag"],
  ["apt-get that asks", "RUN mkdir data", "RUN apt-get update && apt-get install tini", "apt-get"],
  ["sudo", "RUN mkdir data", "RUN sudo mkdir data", "sudo"],
  ["a relative WORKDIR", "WORKDIR /bot", "WORKDIR bot", "WORKDIR"],
  ["no port", "EXPOSE 3000", "EXPOSE the port", "port"],
  ["a wrong interval", "--start-period=10s", "--start-period=soon", "duration"],
])("it would not be with %s", (_, from, to, complaint) => {
  expect(dockerfile).toContain(from);
  const complaints = complaintsAbout(dockerfile.replace(from, to));
  expect(complaints.join("\n").toLowerCase()).toContain(complaint.toLowerCase());
});
