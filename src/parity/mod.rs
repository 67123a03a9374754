//! Two folders of media → how alike they are.
