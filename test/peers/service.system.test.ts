import { testColumn } from "./column.ts";
import { ServiceAuthor } from "./service.ts";

testColumn("service-bot", (instances) => ServiceAuthor.create(instances));
