import highlighter from "highlight.js/lib/core";
import bash from "highlight.js/lib/languages/bash";
import http from "highlight.js/lib/languages/http";
import json from "highlight.js/lib/languages/json";
import typescript from "highlight.js/lib/languages/typescript";

highlighter.registerLanguage("json", json);
highlighter.registerLanguage("sh", bash);
highlighter.registerLanguage("ts", typescript);
highlighter.registerLanguage("http", http);

/** Code as markup with its words marked for the style. Everything that is not that markup is escaped. */
export function highlight(source: string, language: string): string {
  if (!highlighter.getLanguage(language)) return Bun.escapeHTML(source);
  return highlighter.highlight(source, { language }).value;
}
