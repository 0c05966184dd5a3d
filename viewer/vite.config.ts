import { defineConfig } from 'vite';

// One classic script and one style sheet; build/inline.mjs puts them into dist/template.html.
export default defineConfig({
  build: {
    target: 'es2022',
    outDir: 'dist/parts',
    emptyOutDir: true,
    cssCodeSplit: false,
    modulePreload: false,
    chunkSizeWarningLimit: 1000,
    rolldownOptions: {
      input: 'src/main.ts',
      output: { format: 'iife', entryFileNames: 'page.js', assetFileNames: 'page[extname]', codeSplitting: false },
    },
  },
});
