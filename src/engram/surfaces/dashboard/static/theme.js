// Apply the saved choice of light or dark before the page is drawn.
try {
  const theme = localStorage.getItem("engram-theme");
  if (theme === "light" || theme === "dark") document.documentElement.dataset.theme = theme;
} catch {}
