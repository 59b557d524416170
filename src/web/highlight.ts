import highlighter from "highlight.js/lib/core";
import bash from "highlight.js/lib/languages/bash";
import go from "highlight.js/lib/languages/go";
import http from "highlight.js/lib/languages/http";
import json from "highlight.js/lib/languages/json";
import php from "highlight.js/lib/languages/php";
import python from "highlight.js/lib/languages/python";
import typescript from "highlight.js/lib/languages/typescript";

highlighter.registerLanguage("json", json);
highlighter.registerLanguage("sh", bash);
highlighter.registerLanguage("ts", typescript);
highlighter.registerLanguage("http", http);
highlighter.registerLanguage("python", python);
highlighter.registerLanguage("php", php);
highlighter.registerLanguage("go", go);

/** Code as HTML with its tokens marked for the style sheet. Everything else is escaped. */
export function highlight(source: string, language: string): string {
  if (!highlighter.getLanguage(language)) return Bun.escapeHTML(source);
  return highlighter.highlight(source, { language }).value;
}
