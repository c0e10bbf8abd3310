import DefaultTheme from "vitepress/theme";
import { improveRoles } from "./roles.ts";
import "./style.css";

export default {
  extends: DefaultTheme,
  enhanceApp() {
    if (typeof document !== "undefined") improveRoles();
  },
};
