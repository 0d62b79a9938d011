// The editor: Ctrl+Enter saves.
"use strict";

const editor = document.querySelector("form[data-editor]");

editor?.querySelector("textarea").addEventListener("keydown", (event) => {
  if (event.key === "Enter" && (event.ctrlKey || event.metaKey)) { event.preventDefault(); editor.requestSubmit(); }
});
